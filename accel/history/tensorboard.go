package history

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/quernlab/quern/accel/internal/tfrecord"
	"github.com/quernlab/quern/internal/failpoint"
)

// events is an event file: a sequence of TFRecords with Event messages.
//
// A record is its length as uint64, the masked CRC of that, the bytes, and the
// masked CRC of these, all little-endian (TensorFlow's
// tensorflow/core/lib/io/record_writer.h). An Event (tensorflow/core/util/event.proto)
// has wall_time = 1 as double, step = 2 as int64, file_version = 3 as string or
// summary = 5; a Summary has values = 1, each with tag = 1 and simple_value = 2 as
// float.
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

func versionEvent(at time.Time) []byte {
	return field(double(nil, 1, wall(at)), 3, []byte("brain.Event:2"))
}

func scalarEvent(at time.Time, step int, scalars ...scalar) []byte {
	var summary []byte
	for _, s := range scalars {
		if math.IsNaN(s.value) {
			continue
		}
		value := field(nil, 1, []byte(s.tag))
		value = append(value, 2<<3|5) // field 2, 32 bits
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(s.value)))
		summary = field(summary, 1, value)
	}
	b := double(nil, 1, wall(at))
	b = append(b, 2<<3) // field 2, a varint
	b = binary.AppendUvarint(b, uint64(step))
	return field(b, 5, summary)
}

// wall returns the time in seconds since 1970.
func wall(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

// double appends a 64-bit field.
func double(b []byte, number int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, byte(number<<3|1)), math.Float64bits(v))
}

// field appends a length-delimited field: a string or a message.
func field(b []byte, number int, content []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(number<<3|2)), uint64(len(content)))
	return append(b, content...)
}

// record returns an event with its record header and checksums.
func record(event []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	b = binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(b))
	b = append(b, event...)
	return binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(event))
}
