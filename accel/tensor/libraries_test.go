package tensor

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// Each library is described in one line that says where it is or why it is not used.
func TestLibraries(t *testing.T) {
	all := tensors.Libraries()
	if len(all) != 4 {
		t.Fatalf("%d libraries", len(all))
	}
	for i, name := range []string{"cuBLASLt", "cuDNN", "NCCL", "NVRTC"} {
		l := all[i]
		if l.Name != name || (l.Unused == "") != (l.Version != "" && l.Path != "" && l.From != "") || strings.Contains(l.String(), "\n") || !strings.Contains(l.String(), name) {
			t.Errorf("%+v", l)
		}
		t.Log(l)
	}
}
