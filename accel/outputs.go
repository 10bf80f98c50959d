package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/loop"
)

// TensorBoard writes the measurements to a new event file in a folder, which TensorBoard can
// show during the training: train/loss, train/accuracy, train/learning_rate and, with
// AMP(FP16), train/loss_scale and, with RecordGradNorm, train/grad_norm of each step, and validation/loss, validation/accuracy
// and the metrics of option [Metrics].
func TensorBoard(folder string) Option {
	return plain(fmt.Sprintf("TensorBoard(%q)", folder), func(c *loop.Settings) { c.TensorBoard = folder }).
		require(folder != "", "the folder name is empty").output()
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
	return plain(fmt.Sprintf("Track(%q)", folder), func(c *loop.Settings) { c.Track = folder }).
		require(folder != "", "the folder name is empty").output()
}

// labeled names the run in Track's folder. It has no text, since it is not an option of the
// user.
func labeled(name string) Option {
	return plain("", func(c *loop.Settings) { c.Label = name })
}

// MeasureEnergy samples the energy counters and the power of the devices during the training, as [Live] with [Power] and
// [Track] do, for [Run.EnergyUse] and the summary of the run: those of NVIDIA GPUs, or on the CPU those of its packages
// (RAPL), which Linux usually lets only root read.
func MeasureEnergy() Option {
	return plain("MeasureEnergy()", func(c *loop.Settings) { c.Energy = true }).output()
}

// AssumePower estimates the energy of a training on devices without counters and power sensors, such as most laptops:
// watts is the mean power that you assume for everything that trains. All outputs say that it is an estimate. Where
// [MeasureEnergy] finds counters, these count instead.
func AssumePower(watts float64) Option {
	return plain(fmt.Sprintf("AssumePower(%g)", watts), func(c *loop.Settings) { c.Energy, c.Watts = true, watts }).
		require(positive(watts), "the power must be a positive number of watts").output()
}

// Runs reads the runs that [Track] recorded in a folder, including those that are still running or were killed. If a file
// of a run is damaged or not from Track, the run has the status [history.Unreadable]. Runs fails if the folder does not
// exist; it ignores folders without a recorded run.
func Runs(folder string) (*history.RunList, error) { return history.Runs(folder) }

// SaveBest writes the model to a safetensors file, as nn.Save does, after each validation that is
// the best so far: with the lowest validation loss, or see [BestBy]. With [EMA] it is the average that
// was validated. The file is replaced atomically. nn.Load reads it.
func SaveBest(path string) Option {
	return plain(fmt.Sprintf("SaveBest(%q)", path), func(c *loop.Settings) { c.SaveBest = path }).
		require(path != "", "the path is empty").output()
}

// Resume saves the training to a file, and continues from the file if it exists. The result is
// the same bit for bit as without interruption: the file has the parameters, the state of the
// optimizer and the schedule, the average of [EMA], the order of the examples, the state of the random numbers, and
// the history of the run. Running a program or a cell again therefore continues its training; a
// training that had finished is loaded.
//
// Fit writes the file after each epoch, after every given number of steps with [SaveEvery], and
// when the training ends, also when its context is done. After a kill the training continues
// from the last of these. The file is in safetensors format, with parameters named
// model.0.weight and so on, and is replaced atomically.
//
// Fit fails with a [*nn.CorruptFileError] if the file was damaged: it has checksums. It also fails if the
// file belongs to another data set, batch size, [DropLast], sampler, optimizer or
// model; if classes, columns or targets have other names, with a [*data.MismatchError].
func Resume(path string) Option {
	return plain(fmt.Sprintf("Resume(%q)", path), func(c *loop.Settings) { c.Checkpoint = path }).
		require(path != "", "the path is empty").sharedAs("Resume") // only rank 0 needs the file
}

// SaveEvery makes [Resume] save the training after every given number of steps too.
func SaveEvery(steps int) Option {
	return count("SaveEvery", steps, func(c *loop.Settings) *int { return &c.SaveEvery })
}
