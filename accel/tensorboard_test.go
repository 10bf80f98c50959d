package accel

import (
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// TestMaskedCRC checks the first bytes of every event file, a record of 24 bytes.
func TestMaskedCRC(t *testing.T) {
	if got := hex.EncodeToString(record(make([]byte, 24))[:12]); got != "1800000000000000a37f4b22" {
		t.Errorf("the frame of 24 bytes begins with %s", got)
	}
}

// TestEvents compares with the bytes that tensorboardX 2.6 writes for the same events with
// TensorFlow's protocol buffers.
func TestEvents(t *testing.T) {
	at := time.Unix(1700000000, 250_000_000)
	for name, tt := range map[string]struct {
		event []byte
		want  string
	}{
		"version": {versionEvent(at), "0900001040fc54d9411a0d627261696e2e4576656e743a32"},
		"scalar": {
			scalarEvent(at, 300, scalar{"train/loss", 0.5}, scalar{"train/accuracy", math.NaN()}, scalar{"a", -1}),
			"0900001040fc54d94110ac022a1d0a110a0a747261696e2f6c6f7373150000003f0a080a016115000080bf",
		},
	} {
		if got := hex.EncodeToString(tt.event); got != tt.want {
			t.Errorf("%s\n want %s\n got  %s", name, tt.want, got)
		}
	}
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
