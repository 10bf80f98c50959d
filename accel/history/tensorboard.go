package history

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/quernlab/quern/accel/internal/tfrecord"
	"github.com/quernlab/quern/internal/failpoint"
)

// events is an event file: a sequence of records, as package tfrecord describes them, with Event
// messages. An Event (tensorflow/core/util/event.proto) has wall_time = 1 as double, step = 2 as
// int64, file_version = 3 as string or summary = 5; a Summary has values = 1, each with tag = 1 and
// simple_value = 2 as float.
type events struct {
	file               *os.File
	size               int64 // of the complete records
	steps, validations int   // number of steps and validations that have been written
	begin              time.Time
}

// TensorBoard writes a run that begins now to a new event file in a folder, as option accel.TensorBoard describes it.
func TensorBoard(folder string) (Output, error) {
	e, err := newEvents(folder, time.Now())
	if err != nil {
		return nil, err
	}
	return e, nil
}

// newEvents creates an event file with a name that TensorBoard recognizes.
func newEvents(folder string, now time.Time) (*events, error) {
	if err := failpoint.Do(failpoint.EventsFolder, func() error { return os.MkdirAll(folder, 0o755) }); err != nil {
		return nil, fmt.Errorf("accel: TensorBoard: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	name := fmt.Sprintf("events.out.tfevents.%d.%s.%d.*", now.Unix(), host, os.Getpid())
	var file *os.File
	err = failpoint.Do(failpoint.EventsCreate, func() (err error) {
		file, err = os.CreateTemp(folder, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("accel: TensorBoard: %w", err)
	}
	e := &events{file: file, begin: now}
	if err := e.write(record(versionEvent(now))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return e, nil
}

// Update writes what is new in the run.
func (e *events) Update(r *Run) error {
	var out []byte
	for ; e.steps < len(r.Steps); e.steps++ {
		s := r.Steps[e.steps]
		scale := cmp.Or(s.LossScale, math.NaN()) // 0 for none
		norm := cmp.Or(s.GradNorm, math.NaN())   // 0 if it was not recorded
		at := e.begin.Add(time.Duration(s.Seconds * float64(time.Second)))
		out = append(out, record(scalarEvent(at, e.steps+1,
			scalar{"train/loss", s.Loss}, scalar{"train/accuracy", s.Accuracy}, scalar{"train/learning_rate", s.LearningRate}, scalar{"train/loss_scale", scale}, scalar{"train/grad_norm", norm}))...)
	}
	for ; e.validations < len(r.Validations); e.validations++ {
		c := r.Validations[e.validations]
		scalars := []scalar{{"validation/loss", c.Loss}, {"validation/accuracy", c.Accuracy}}
		for _, v := range c.Metrics {
			scalars = append(scalars, scalar{"validation/" + v.Name, v.Value})
		}
		out = append(out, record(scalarEvent(time.Now(), c.Step, scalars...))...)
	}
	return e.write(out)
}

// write appends complete records. On an error, such as a full disk, it removes a partial
// record: TensorBoard reads nothing after one.
func (e *events) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := failpoint.Writer(failpoint.EventsWrite, e.file).Write(b); err != nil {
		return fmt.Errorf("accel: TensorBoard: %w", errors.Join(err, e.file.Truncate(e.size)))
	}
	e.size += int64(len(b))
	return nil
}

// Close writes the rest of the run and closes the file.
func (e *events) Close(r *Run, _ error) error {
	return errors.Join(e.Update(r), failpoint.Do(failpoint.EventsClose, e.file.Close))
}

// scalar is a value with a name. NaN means that it was not measured.
type scalar struct {
	tag   string
	value float64
}

// newEvent returns an Event with its time; fields may be appended to it.
func newEvent(at time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(wall(at)))
}

func versionEvent(at time.Time) []byte {
	return protowire.AppendString(protowire.AppendTag(newEvent(at), 3, protowire.BytesType), "brain.Event:2")
}

func scalarEvent(at time.Time, step int, scalars ...scalar) []byte {
	var summary []byte
	for _, s := range scalars {
		if math.IsNaN(s.value) {
			continue
		}
		value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), s.tag)
		value = protowire.AppendFixed32(protowire.AppendTag(value, 2, protowire.Fixed32Type), math.Float32bits(float32(s.value)))
		summary = protowire.AppendBytes(protowire.AppendTag(summary, 1, protowire.BytesType), value)
	}
	b := protowire.AppendVarint(protowire.AppendTag(newEvent(at), 2, protowire.VarintType), uint64(step))
	return protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), summary)
}

// wall returns the time in seconds since 1970.
func wall(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

// record returns an event with its record header and checksums.
func record(event []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	b = binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(b))
	b = append(b, event...)
	return binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(event))
}
