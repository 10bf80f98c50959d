package cuda

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// The names are those of NVRTC and c++filt.
func TestSignature(t *testing.T) {
	for _, row := range []struct{ mangled, name, types string }{
		{"_Z5saxpyifPKfPf", "saxpy", "int, float, const float *, float *"},
		{"_Z5emptyv", "empty", ""},
		{"_Z3addIfEvPT_PKS0_", "add<float>", "float *, const float *"},
		{"_Z3addI6__halfEvPT_PKS1_", "add<__half>", "__half *, const __half *"},
		{"_Z4fillIdLi8EEvPT_S0_", "fill<double, 8>", "double *, double"},
		{"_Z4tailIfLin2EEvPT_", "tail<float, -2>", "float *"},
		{"_Z4castIfdEvPT_PKT0_m", "cast<float, double>", "float *, const double *, unsigned long"},
		{"_Z4waveP6float45Color", "wave", "float4 *, Color"},
		{"_ZN3lib5scaleEPfS0_", "lib::scale", "float *, float *"},
		{"_Z4sameP6float4S0_PKS_", "same", "float4 *, float4 *, const float4 *"},
		{"_Z5tablePPKf", "table", "const float **"},
		{"_Z5flagsPbhxy", "flags", "bool *, unsigned char, long long, unsigned long long"},
		{"_Z4viewN3lib4SpanIfEE", "view", "lib::Span<float>"},
		{"_Z3boxPVj3BoxIiE", "box", "unsigned int *, Box<int>"},
		{"plain", "plain", "u64, f32"},
		{"_Z1kPA4_f", "k", "float (*)[4]"},
		{"_Z1kPA4_A5_KfS2_", "k", "const float (*)[4][5], const float (*)[4][5]"},
		{"_ZN1n1kEPFvvE", "n::k", "u64"},
	} {
		e := ptxsim.Entry{Name: row.mangled}
		types := strings.Split(row.types, ", ")
		if row.types == "" {
			types = nil
		}
		for _, c := range types {
			e.Params = append(e.Params, ptxsim.EntryParam{Type: c})
		}
		name, params, _ := Signature(e)
		var got []string
		for _, p := range params {
			got = append(got, p.C)
		}
		if name != row.name || strings.Join(got, ", ") != row.types {
			t.Errorf("%s: %s(%s), want %s(%s)", row.mangled, name, strings.Join(got, ", "), row.name, row.types)
		}
	}
	// Names that are not understood have the types of PTX.
	for _, name := range []string{"_Z", "_Z9", "_Z3f", "_Z1fS_", "_Z1fT_", "_Z1fIE", "_Z1fPDh", "_ZN1f", "_Z1fILi", "_Z1fSz_"} {
		if _, types, ok := demangled(name); ok && len(types) > 0 {
			t.Errorf("%s: %v", name, types)
		}
		if got, params, known := Signature(ptxsim.Entry{Name: name, Params: []ptxsim.EntryParam{{Type: "u64"}}}); known || len(params) != 1 || params[0].C != "u64" {
			t.Errorf("%s: %s, %v", name, got, params)
		}
	}
	_, params, _ := Signature(ptxsim.Entry{Name: "_Z1fPKfPfPPKf", Params: make([]ptxsim.EntryParam, 3)})
	for i, want := range []Param{{C: "const float *", Pointer: true, Element: "float", Const: true}, {C: "float *", Pointer: true, Element: "float"}, {C: "const float **", Pointer: true, Element: "const float *"}} {
		if params[i] != want {
			t.Errorf("parameter %d: %+v", i, params[i])
		}
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("_Z3addI6__halfEvPT_PKS1_")
	f.Add("_Z4viewN3lib4SpanIfEE")
	f.Fuzz(func(t *testing.T, name string) { Signature(ptxsim.Entry{Name: name}) })
}
