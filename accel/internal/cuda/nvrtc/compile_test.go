//go:build linux && cgo

package nvrtc

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/library/librarytest"
)

const source = `
template <typename T> __global__ void add(T *x, const T *y) { x[threadIdx.x] += y[threadIdx.x]; }
extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }
`

// The real NVRTC compiles, instantiates templates, and reports errors with their lines.
func TestCompile(t *testing.T) {
	h := librarytest.Installed(t, library.NVRTC)
	t.Logf("%s %s, headers in %v", h.Path, h.Version, headers(h.Path))
	done, err := compileWith(h, Program{Source: source, Name: "cell[3]", Names: []string{"add<float>", "twice"}, Options: []string{"-DFACTOR=2"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Names) != 2 || done.Names[1] != "twice" || !strings.Contains(done.PTX, ".entry "+done.Names[0]+"(") {
		t.Errorf("names %v in\n%s", done.Names, done.PTX)
	}
	var wrong *CompileError
	if _, err := compileWith(h, Program{Source: source, Name: "cell[3]"}); !errors.As(err, &wrong) || !strings.Contains(wrong.Log, `cell[3](3): error: identifier "FACTOR" is undefined`) {
		t.Errorf("got %v", err)
	}
	var call *library.CallError
	if _, err := compileWith(h, Program{Source: "", Name: "a", Options: []string{"--nonsense"}}); !errors.As(err, &call) || call.Status != "NVRTC_ERROR_INVALID_OPTION" || !strings.Contains(call.Words, "--nonsense") {
		t.Errorf("got %v", err)
	}
}

// The calls are those of a fake library. Its compiler copies the source, and fails if it contains an #error.
func TestFake(t *testing.T) {
	h := librarytest.Fake(t, library.NVRTC, "testdata/libnvrtc.c", "libnvrtc-builtins.so.13.5")
	if h.Version.String() != "13.5.0" {
		t.Errorf("version %v", h.Version)
	}
	done, err := compileWith(h, Program{Source: "text", Name: "cell[3]", Names: []string{"f", "g<int>"}, Options: []string{"-a", "-b"}})
	if err != nil || done.PTX != "cell[3]:text -a -b" || strings.Join(done.Names, " ") != "_f _g<int>" {
		t.Errorf("%+v, %v", done, err)
	}
	for _, row := range []struct {
		p    Program
		want string
	}{
		{Program{Source: "#error", Name: "cell[3]"}, "cell[3](1): error"},
		{Program{Source: "a", Name: "cell[3]", Options: []string{"-bad"}}, "NVRTC: nvrtcCompileProgram: status 5: option -bad"},
		{Program{Source: "a", Name: ""}, "NVRTC: nvrtcCreateProgram: status 3"},
		{Program{Source: "a", Name: "b", Names: []string{""}}, "NVRTC: nvrtcAddNameExpression: status 10"},
		{Program{Source: "a", Name: "b", Names: []string{"lost"}}, "NVRTC: nvrtcGetLoweredName: status 10"},
	} {
		if _, err := compileWith(h, row.p); err == nil || err.Error() != row.want {
			t.Errorf("%+v: got %v, want %s", row.p, err, row.want)
		}
	}
}
