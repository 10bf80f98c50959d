package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// TestWaiting checks that each kernel of each module waits first for those before, and changes in nothing else. The other tests
// run these kernels.
func TestWaiting(t *testing.T) {
	long := os.Getenv("QUERN_LONG") != ""
	for _, file := range filesNamed(t, "*.ptx.gz") {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text := string(read(t, file))
			waiting, err := ptx.Waiting(text)
			if err != nil {
				t.Fatal(err)
			}
			kernels := 0
			for part := range strings.SplitSeq(waiting, ".entry ") {
				_, body, ok := strings.Cut(part, "\n{\n")
				if !ok {
					continue
				}
				kernels++
				for strings.HasPrefix(body, "\t.") { // declarations
					_, body, _ = strings.Cut(body, "\n")
				}
				if !strings.HasPrefix(body, "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n") || strings.Count(body, "griddepcontrol") != 2 {
					t.Errorf("%s does not wait first, and once", strings.SplitN(part, "(", 2)[0])
				}
			}
			if all := len(entryName.FindAllString(text, -1)); kernels != all || all == 0 {
				t.Errorf("%d of %d kernels wait", kernels, all)
			}
			lines := func(text string) (out []string) {
				for line := range strings.Lines(text) {
					if !strings.Contains(line, "griddepcontrol") && !strings.HasPrefix(line, ".version") && !strings.HasPrefix(line, ".target") {
						out = append(out, line)
					}
				}
				return out
			}
			if strings.Join(lines(waiting), "") != strings.Join(lines(text), "") {
				t.Error("other lines differ")
			}
			if _, err := ptxsim.Parse(waiting); err != nil {
				t.Error(err)
			}
			if len(text) > 20_000 && !long {
				return // only small modules are assembled in a second
			}
			source := filepath.Join(t.TempDir(), "waiting.ptx")
			if err := os.WriteFile(source, []byte(waiting), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), assembler(t), "-arch=sm_90a", "-o", source+".cubin", source).CombinedOutput(); err != nil {
				t.Errorf("ptxas: %v\n%s", err, out)
			}
		})
	}
}
