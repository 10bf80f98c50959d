package accel

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/history"
)

// TensorBoard writes the measurements to a new event file in a folder, which TensorBoard can
// show during the training: train/loss, train/accuracy, train/learning_rate and, with
// AMP(FP16), train/loss_scale and, with RecordGradNorm, train/grad_norm of each step, and validation/loss, validation/accuracy
// and the metrics of option [Metrics].
func TensorBoard(folder string) Option {
	text := fmt.Sprintf("TensorBoard(%q)", folder)
	return fitOption(text, func(c *options) error {
		if folder == "" {
			return fmt.Errorf("accel: %s: the folder name is empty", text)
		}
		c.tensorBoard = folder
		return nil
	}).output()
}

// Track records the run in a new folder below the given one, named by the time. [Runs] compares
// the recorded runs. Nothing leaves the machine. The folder has
//
//	config.json     the data set, the options, the seeds, the device and the versions
//	history.jsonl   a line for each step and each validation
//	system.jsonl    a line per second: how busy the machine was
//	summary.json    the [Card], how the run ended, and why
//	figure.svg      loss and accuracy
//
// The names are those of Weights & Biases and Trackio: _step, _runtime in seconds and
// _timestamp in seconds since 1970; train/loss, train/accuracy, train/learning_rate,
// train/epoch and, with AMP(FP16), train/loss_scale; validation/loss, validation/accuracy and
// the metrics of option [Metrics], such as validation/F1 (macro);
// system.cpu, system.memory_percent, system.cpu.powerWatts and system.cpu.energyJoules, or for
// each GPU system.gpu.0.gpu, .memoryAllocatedBytes, .powerWatts, .temp, .smClock, .energyJoules
// and .slowed, on Hopper and later also .smActive, .smOccupancy, .pipeTensorActive and
// .dramActive. Values that were not measured are left out.
//
// Each line, and each JSON file, ends with the field crc32c, the CRC-32C of its text without that field; in a
// file of lines it goes on from the line before. [Runs] rejects what does not match. Other programs
// may ignore it.
//
// Complete lines are written to disk within half a second. A run without summary.json is still
// running or was killed. If writing fails, on a full disk for instance, the training continues
// and a note is added to the run.
func Track(folder string) Option {
	text := fmt.Sprintf("Track(%q)", folder)
	return fitOption(text, func(c *options) error {
		if folder == "" {
			return fmt.Errorf("accel: %s: the folder name is empty", text)
		}
		c.track = folder
		return nil
	}).output()
}

// labeled names the run in Track's folder. It has no text, since it is not an option of the
// user.
func labeled(name string) Option {
	return fitOption("", func(c *options) error { c.label = name; return nil })
}

// MeasureEnergy samples the energy counters and the power of the devices during the training, as [Live] with [Power] and
// [Track] do, for [Run.EnergyUse] and the summary of the run: those of NVIDIA GPUs, or on the CPU those of its packages
// (RAPL), which Linux usually lets only root read.
func MeasureEnergy() Option {
	return plain("MeasureEnergy()", func(c *options) { c.energy = true }).output()
}

// AssumePower estimates the energy of a training on devices without counters and power sensors, such as most laptops:
// watts is the mean power that you assume for everything that trains. All outputs say that it is an estimate. Where
// [MeasureEnergy] finds counters, these count instead.
func AssumePower(watts float64) Option {
	text := fmt.Sprintf("AssumePower(%g)", watts)
	return fitOption(text, func(c *options) error {
		if !(watts > 0) || math.IsInf(watts, 0) {
			return fmt.Errorf("accel: %s: the power must be a positive number of watts", text)
		}
		c.energy, c.watts = true, watts
		return nil
	}).output()
}

// measuresEnergy reports whether a meter is needed: Live and Track record the devices themselves.
func (c *options) measuresEnergy() bool {
	for _, m := range c.live {
		if m.OfDevice() {
			return false
		}
	}
	return c.energy && c.track == ""
}

// Runs reads the runs that [Track] recorded in a folder, including those that are still running or were killed. If a file
// of a run is damaged or not from Track, the run has the status [history.Unreadable]. Runs fails if the folder does not
// exist; it ignores folders without a recorded run.
func Runs(folder string) (*history.RunList, error) { return history.Runs(folder) }

// writes reports whether this process shows and saves the run.
func (c *options) writes() bool { return c.group == nil || c.group.First() }
