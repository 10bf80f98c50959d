package accel

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/tfrecord"
	"github.com/quernlab/quern/accel/nn"
)

// record returns an event as a TFRecord.
func record(event []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	b = binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(b))
	b = append(b, event...)
	return binary.LittleEndian.AppendUint32(b, tfrecord.MaskedCRC(event))
}

func TestTensorBoard(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs", "a")
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train.First(128), Epochs(2), Validate(test.First(20)), TensorBoard(folder), Quiet())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for len(b) >= 16 {
		n := int(b[0]) | int(b[1])<<8
		if n+16 > len(b) {
			t.Fatal("the last record is cut")
		}
		if whole := record(b[12 : 12+n]); string(whole) != string(b[:16+n]) {
			t.Fatalf("record %d has other checksums", records)
		}
		b = b[16+n:]
		records++
	}
	if want := 1 + len(run.Steps) + len(run.Validations); records != want || len(b) > 0 {
		t.Errorf("want %d records, got %d and %d bytes more", want, records, len(b))
	}
	if _, err := Fit(t.Context(), nn.Dense(10), train, TensorBoard(files[0]), Quiet()); err == nil {
		t.Error("a file is taken for a folder")
	}
	if _, err := Fit(t.Context(), nn.Dense(10), train, TensorBoard("")); err == nil {
		t.Error("no folder is taken")
	}
}
