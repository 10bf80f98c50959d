package programs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// A process has a limited number of runtime types for types of cells with methods. A cell that needs one more fails with an
// error that says so. Closing a session releases its types.
func TestMethodsRunOut(t *testing.T) {
	for range 2 {
		var out buffer
		s, err := interp.New(interp.Stdout(&out), interp.Stdin(strings.NewReader("")))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			cell := fmt.Sprintf("import \"encoding/xml\"\ntype T%d string\nfunc (t T%[1]d) MarshalText() ([]byte, error) { return []byte(t + \"!\"), nil }\nb, err := xml.Marshal(T%[1]d(\"a\"))\nfmt.Print(string(b), err)", i)
			_, err := s.Execute(t.Context(), i+1, cell)
			if err == nil && i < 200 {
				if got, want := out.take(), fmt.Sprintf("<T%d>a!</T%[1]d><nil>", i); got != want {
					t.Fatalf("cell %d printed %s, not %s", i, got, want)
				}
				continue
			}
			var failure *interp.Error
			if i < 100 || !errors.As(err, &failure) || !strings.Contains(failure.Value, "are in use; restart the kernel") {
				t.Errorf("cell %d failed with %v", i, err)
			}
			break
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
