package history

import (
	"encoding/hex"
	"math"
	"testing"
	"time"
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
