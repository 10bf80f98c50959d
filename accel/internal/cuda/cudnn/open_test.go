//go:build linux && cgo

package cudnn

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/library/librarytest"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/internal/testenv"
)

func closeAll(plans []Plan) {
	for _, p := range plans {
		p.Close()
	}
}

func names(plans []Plan) (out []string) {
	for _, p := range plans {
		out = append(out, p.Name())
	}
	return out
}

// convolutions are some float32 convolutions that the back end uses.
var convolutions = map[string]Convolution{
	"plain":    {N: 2, C: 3, H: 8, W: 9, O: 4, OH: 8, OW: 9, KH: 3, KW: 3, Groups: 1, Stride: [2]int{1, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 1}},
	"uneven":   {N: 3, C: 5, H: 9, W: 7, O: 6, OH: 5, OW: 3, KH: 1, KW: 5, Groups: 1, Stride: [2]int{2, 1}, Padding: [2]int{0, 2}, Dilation: [2]int{3, 2}},
	"grouped":  {N: 1, C: 6, H: 5, W: 5, O: 4, OH: 3, OW: 3, KH: 3, KW: 3, Groups: 2, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}},
	"pointed":  {N: 2, C: 16, H: 4, W: 4, O: 32, OH: 2, OW: 2, KH: 1, KW: 1, Groups: 1, Stride: [2]int{2, 2}, Dilation: [2]int{1, 1}},
	"one each": {N: 2, C: 8, H: 6, W: 6, O: 8, OH: 6, OW: 6, KH: 3, KW: 3, Groups: 8, Stride: [2]int{1, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 1}},
	"layer":    {N: 32, C: 64, H: 32, W: 32, O: 128, OH: 32, OW: 32, KH: 3, KW: 3, Groups: 1, Stride: [2]int{1, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 1}},
}

func (c Convolution) of(kind Kind, t tensortype.DType) Convolution {
	c.Kind, c.Type, c.AlignX, c.AlignW, c.AlignY, c.Workspace = kind, t, 64, 16, 256, 256<<20
	return c
}

// withDriver runs a test in another process, with a fake CUDA driver without devices, if this
// process has no driver: the real library needs one. It reports whether it has done so.
func withDriver(t *testing.T) (done bool) {
	t.Helper()
	const path = "LD_LIBRARY_PATH"
	if _, err := driver.Open(); err == nil || !errors.Is(err, driver.ErrNoGPU) || os.Getenv("QUERN_TEST_DRIVER") != "" {
		return false
	}
	folder := t.TempDir()
	librarytest.Compile(t, filepath.Join(folder, "libcuda.so.1"), "testdata/libcuda.c", "-Wl,-soname,libcuda.so.1")
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), "QUERN_TEST_DRIVER=none", path+"="+folder+string(os.PathListSeparator)+os.Getenv(path))
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return true
}

// The real library must accept the descriptors, and have engines for them. It makes plans for
// a GPU of which the test passes a description (ahead-of-time compilation), so no GPU is
// needed.
func TestPlansOfTheRealLibrary(t *testing.T) {
	l, err := bind(librarytest.Installed(t, library.CuDNN))
	if err != nil {
		t.Fatal(err)
	}
	if v := l.version; v.Major == 9 && v.Minor < 8 {
		testenv.Optional(t, "cuDNN %s plans for a GPU that is there alone; 9.8 is needed", v)
	}
	if withDriver(t) {
		return
	}
	gpu, err := os.ReadFile("testdata/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	l.json = strings.Join(strings.Fields(string(gpu)), " ")
	for name, c := range convolutions {
		for kind := Forward; kind <= WeightGradient; kind++ {
			for _, of := range []tensortype.DType{tensortype.Float32, tensortype.Float16, tensortype.BFloat16} {
				c := c.of(kind, of)
				plans, err := l.Plans(c, 4)
				if err != nil {
					t.Errorf("%s, kind %d, %s: %v", name, kind, of, err)
					continue
				}
				if len(plans) == 0 {
					t.Errorf("%s, kind %d, %s: no engine", name, kind, of)
				}
				for _, p := range plans {
					if p.Workspace() < 0 || p.Workspace() > c.Workspace || uint32(p.(*plan).engine.notes)>>nondeterministic&1 != 0 {
						t.Errorf("%s, kind %d, %s: %s with %d bytes", name, kind, of, p.Name(), p.Workspace())
					}
					if of == tensortype.Float32 && uint32(p.(*plan).engine.notes)>>tensorCores&1 != 0 {
						t.Errorf("%s, kind %d: %s rounds to TF32", name, kind, p.Name())
					}
				}
				t.Logf("%-8s kind %d %-8s %s", name, kind, of, strings.Join(names(plans), "; "))
				if got := names(plans); len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
					t.Errorf("%s, kind %d, %s: the same plan twice: %q", name, kind, of, got)
				}
				closeAll(plans)
			}
		}
	}
	wrong := convolutions["plain"].of(Forward, tensortype.Float32)
	wrong.OH++
	var e *library.CallError
	if _, err := l.Plans(wrong, 1); !errors.As(err, &e) || e.Status != "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH" && e.Status != "CUDNN_STATUS_BAD_PARAM" {
		t.Errorf("a result of another shape: %v", err)
	}
	// All plans of a large layer in 16 bits use tensor cores: the fallbacks do not.
	for kind := Forward; kind <= WeightGradient; kind++ {
		for _, last := range []bool{false, true} {
			c := convolutions["layer"].of(kind, tensortype.BFloat16)
			c.ChannelsLast = last
			plans, err := l.Plans(c, 8)
			if err != nil || len(plans) != 8 {
				t.Errorf("a layer, kind %d: %d plans, %v", kind, len(plans), err)
			}
			least := c.Workspace
			for _, p := range plans {
				if uint32(p.(*plan).engine.notes)>>tensorCores&1 == 0 {
					t.Errorf("a layer, kind %d: %s does not use tensor cores", kind, p.Name())
				}
				least = min(least, p.Workspace())
			}
			if last != (least < 1024) { // else there are copies of both images
				t.Errorf("a layer, kind %d, the channels last: %v; a workspace of %d bytes", kind, last, least)
			}
			closeAll(plans)
		}
	}
	// TF32 has more engines.
	rounded := convolutions["layer"].of(Forward, tensortype.Float32)
	rounded.TF32 = true
	plans, err := l.Plans(rounded, 1)
	if err != nil || len(plans) != 1 || uint32(plans[0].(*plan).engine.notes)>>tensorCores&1 != 1 {
		t.Errorf("TF32: %v, %v", plans, err)
	}
	closeAll(plans)
	// Without a GPU, creating the handle fails with a CallError.
	if _, err := Open(librarytest.Installed(t, library.CuDNN)); err != nil && (!errors.As(err, &e) || e.Call != "cudnnCreate" || !strings.HasPrefix(e.Status, "CUDNN_STATUS_")) {
		t.Errorf("no GPU: %v", err)
	}
}

// The numbers in shim.c must be those of the real header.
func TestConstantsOfTheRealHeader(t *testing.T) {
	found := librarytest.Installed(t, library.CuDNN)
	include, header := librarytest.Include(t, found, "cudnn_graph_v9.h")
	enum, named := librarytest.Enum(t)
	pairs := map[string]string{
		"backend_convolution": "BACKEND_CONVOLUTION_DESCRIPTOR", "backend_engine": "BACKEND_ENGINE_DESCRIPTOR", "backend_config": "BACKEND_ENGINECFG_DESCRIPTOR",
		"backend_heuristic": "BACKEND_ENGINEHEUR_DESCRIPTOR", "backend_plan": "BACKEND_EXECUTION_PLAN_DESCRIPTOR", "backend_forward": "BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
		"backend_backward_filter": "BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR", "backend_backward_data": "BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
		"backend_graph": "BACKEND_OPERATIONGRAPH_DESCRIPTOR", "backend_pack": "BACKEND_VARIANT_PACK_DESCRIPTOR", "backend_tensor": "BACKEND_TENSOR_DESCRIPTOR", "backend_device": "BACKEND_DEVICEPROP_DESCRIPTOR",
		"is_handle": "TYPE_HANDLE", "is_data_type": "TYPE_DATA_TYPE", "is_int64": "TYPE_INT64", "is_float": "TYPE_FLOAT", "is_pointer": "TYPE_VOID_PTR", "is_convolution_mode": "TYPE_CONVOLUTION_MODE",
		"is_heuristic_mode": "TYPE_HEUR_MODE", "is_numerical_note": "TYPE_NUMERICAL_NOTE", "is_descriptor": "TYPE_BACKEND_DESCRIPTOR", "is_char": "TYPE_CHAR", "is_behavior_note": "TYPE_BEHAVIOR_NOTE", "engine_behavior": "ATTR_ENGINE_BEHAVIOR_NOTE",
		"convolution_compute": "ATTR_CONVOLUTION_COMP_TYPE", "convolution_mode": "ATTR_CONVOLUTION_CONV_MODE", "convolution_dilations": "ATTR_CONVOLUTION_DILATIONS",
		"convolution_strides": "ATTR_CONVOLUTION_FILTER_STRIDES", "convolution_post_paddings": "ATTR_CONVOLUTION_POST_PADDINGS", "convolution_pre_paddings": "ATTR_CONVOLUTION_PRE_PADDINGS",
		"convolution_dimensions": "ATTR_CONVOLUTION_SPATIAL_DIMS", "heuristic_mode": "ATTR_ENGINEHEUR_MODE", "heuristic_graph": "ATTR_ENGINEHEUR_OPERATION_GRAPH",
		"heuristic_results": "ATTR_ENGINEHEUR_RESULTS", "heuristic_device": "ATTR_ENGINEHEUR_DEVICEPROP", "config_engine": "ATTR_ENGINECFG_ENGINE", "config_knobs": "ATTR_ENGINECFG_KNOB_CHOICES",
		"backend_knob": "BACKEND_KNOB_CHOICE_DESCRIPTOR", "is_knob_type": "TYPE_KNOB_TYPE", "knob_type": "ATTR_KNOB_CHOICE_KNOB_TYPE", "knob_value": "ATTR_KNOB_CHOICE_KNOB_VALUE",
		"plan_handle": "ATTR_EXECUTION_PLAN_HANDLE", "plan_config": "ATTR_EXECUTION_PLAN_ENGINE_CONFIG", "plan_workspace": "ATTR_EXECUTION_PLAN_WORKSPACE_SIZE", "plan_device": "ATTR_EXECUTION_PLAN_DEVICEPROP",
		"forward_alpha": "ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA", "forward_beta": "ATTR_OPERATION_CONVOLUTION_FORWARD_BETA", "forward_convolution": "ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC",
		"forward_w": "ATTR_OPERATION_CONVOLUTION_FORWARD_W", "forward_x": "ATTR_OPERATION_CONVOLUTION_FORWARD_X", "forward_y": "ATTR_OPERATION_CONVOLUTION_FORWARD_Y",
		"data_alpha": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA", "data_beta": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA", "data_convolution": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC",
		"data_w": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_W", "data_dx": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX", "data_dy": "ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY",
		"filter_alpha": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA", "filter_beta": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA", "filter_convolution": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC",
		"filter_dw": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW", "filter_x": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X", "filter_dy": "ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY",
		"graph_handle": "ATTR_OPERATIONGRAPH_HANDLE", "graph_operations": "ATTR_OPERATIONGRAPH_OPS", "tensor_alignment": "ATTR_TENSOR_BYTE_ALIGNMENT", "tensor_type": "ATTR_TENSOR_DATA_TYPE",
		"tensor_dimensions": "ATTR_TENSOR_DIMENSIONS", "tensor_strides": "ATTR_TENSOR_STRIDES", "tensor_id": "ATTR_TENSOR_UNIQUE_ID", "pack_ids": "ATTR_VARIANT_PACK_UNIQUE_IDS",
		"pack_pointers": "ATTR_VARIANT_PACK_DATA_POINTERS", "pack_workspace": "ATTR_VARIANT_PACK_WORKSPACE", "engine_number": "ATTR_ENGINE_GLOBAL_INDEX", "engine_notes": "ATTR_ENGINE_NUMERICAL_NOTE",
		"device_json": "ATTR_DEVICEPROP_JSON_REPRESENTATION", "cross_correlation": "CROSS_CORRELATION", "type_float": "DATA_FLOAT",
	}
	if named != len(pairs) {
		t.Errorf("the shim has %d numbers, %d are compared", named, len(pairs))
	}
	for theirs, ours := range map[string]int{
		"DATA_HALF": int(dataTypes[tensortype.Float16]), "DATA_BFLOAT16": int(dataTypes[tensortype.BFloat16]), "NUMERICAL_NOTE_TENSOR_CORE": int(tensorCores), "NUMERICAL_NOTE_DOWN_CONVERT_INPUTS": int(downConvert),
		"NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION": int(reducedReduction), "NUMERICAL_NOTE_FFT": int(fourier), "NUMERICAL_NOTE_NONDETERMINISTIC": int(nondeterministic),
		"NUMERICAL_NOTE_WINOGRAD": int(winograd), "NUMERICAL_NOTE_WINOGRAD_TILE_6x6": int(winograd6), "NUMERICAL_NOTE_WINOGRAD_TILE_13x13": int(winograd13),
		"HEUR_MODE_A": int(modes[0]), "HEUR_MODE_FALLBACK": int(modes[1]), "STATUS_NOT_SUPPORTED": 3000, "BEHAVIOR_NOTE_RUNTIME_COMPILATION": int(compiled),
		"STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE": statusNoPart,
	} {
		pairs[fmt.Sprintf("(%d) /* %s */", ours, theirs)] = theirs
	}
	equal := map[string]string{}
	for ours, theirs := range pairs {
		// Planning for a GPU from its description exists since 9.8, and only tests use it.
		if v := found.Version; v.Minor < 8 && strings.Contains(theirs, "DEVICEPROP") && !strings.Contains(header, theirs) {
			continue
		}
		equal[ours] = "CUDNN_" + theirs
	}
	librarytest.CheckEqual(t, "#include <cudnn_graph_v9.h>\n"+enum, equal, "-I", "testdata", "-I", include)
}

// Every call must have the right arguments: the fake rejects wrong ones, and computes the
// convolution.
func TestCallsArrive(t *testing.T) {
	found := librarytest.Fake(t, library.CuDNN, "testdata/libcudnn.c", "libcudnn_graph.so.9", "libcublasLt.so.13")
	l, err := Open(found)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range convolutions {
		if name == "layer" {
			continue // large
		}
		for i := range 2 * (WeightGradient + 1) {
			kind := i / 2
			c := c.of(kind, tensortype.Float32)
			c.ChannelsLast = i%2 == 1
			plans, err := l.Plans(c, 4)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			// Of the six engines, one rounds, one is not deterministic, one does not work, one uses
			// TF32, and one needs run-time compilation; the first is there three times, two of
			// them with the same knobs. The fallback is not needed.
			if got := names(plans); len(got) != 2 || got[0] != "cuDNN engine 40 with knobs 2=5,13=-1" || got[1] != "cuDNN engine 40 with knobs 2=9,13=-1" || plans[1].Workspace() != 4096 {
				t.Fatalf("%s: plans %q", name, got)
			}
			for _, p := range plans {
				tryPlan(t, name, c, p)
			}
			closeAll(plans)
			closeAll(plans) // twice is fine
		}
	}
	rare := convolutions["plain"].of(Forward, tensortype.Float32)
	rare.O = 98
	if plans, err := l.Plans(rare, 4); err != nil || len(plans) != 1 || !strings.HasPrefix(plans[0].Name(), "cuDNN engine 47 ") {
		t.Errorf("a convolution for which only the fallback has an engine: %q, %v", names(plans), err)
	} else {
		closeAll(plans)
	}
	small := convolutions["plain"].of(Forward, tensortype.Float32)
	small.Workspace = 100
	small.TF32 = true
	if plans, err := l.Plans(small, 4); err != nil || len(plans) != 1 {
		t.Errorf("with little memory: %v, %v", plans, err)
	} else {
		closeAll(plans)
	}
	none := convolutions["plain"].of(Forward, tensortype.Float32)
	none.O = 99 // the first dimension of w
	if plans, err := l.Plans(none, 4); err != nil || len(plans) != 0 {
		t.Errorf("a convolution that is not supported: %v, %v", plans, err)
	}
	wrong := convolutions["plain"].of(Forward, tensortype.Float32)
	wrong.OW++
	var e *library.CallError
	if _, err := l.Plans(wrong, 4); !errors.As(err, &e) || e.Call != "cudnnBackendFinalize" || e.Status != "CUDNN_STATUS_BAD_PARAM" || !strings.Contains(e.Words, "out ==") {
		t.Errorf("a convolution that is wrong: %v", err)
	}
	// It fails if a descriptor was not released.
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("FAKE_CUDNN_CREATE", "1001")
	if _, err := Open(found); !errors.As(err, &e) || e.Code != 1001 {
		t.Errorf("a library that does not start: %v", err)
	}
}

// offset returns where an element is.
func (c Convolution) offset(n, channel, channels, row, rows, column, columns int) int {
	if c.ChannelsLast {
		return ((n*rows+row)*columns+column)*channels + channel
	}
	return ((n*channels+channel)*rows+row)*columns + column
}

// tryPlan compares the convolution with that of a plain loop.
func tryPlan(t *testing.T, name string, c Convolution, p Plan) {
	t.Helper()
	fill := func(n, seed int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32((i*7+seed)%5 - 2)
		}
		return v
	}
	per := c.C / c.Groups
	x, w, y := fill(c.N*c.C*c.H*c.W, 1), fill(c.O*per*c.KH*c.KW, 2), fill(c.N*c.O*c.OH*c.OW, 3)
	want := make([]float32, len([][]float32{y, x, w}[c.Kind]))
	for n := range c.N {
		for o := range c.O {
			for i := range c.OH {
				for j := range c.OW {
					for ch := range per {
						for p := range c.KH {
							for q := range c.KW {
								r, s := i*c.Stride[0]-c.Padding[0]+p*c.Dilation[0], j*c.Stride[1]-c.Padding[1]+q*c.Dilation[1]
								if r < 0 || s < 0 || r >= c.H || s >= c.W {
									continue
								}
								at := c.offset(n, o/(c.O/c.Groups)*per+ch, c.C, r, c.H, s, c.W)
								of := c.offset(o, ch, per, p, c.KH, q, c.KW)
								to := c.offset(n, o, c.O, i, c.OH, j, c.OW)
								switch c.Kind {
								case Forward:
									want[to] += x[at] * w[of]
								case InputGradient:
									want[at] += y[to] * w[of]
								case WeightGradient:
									want[of] += x[at] * y[to]
								}
							}
						}
					}
				}
			}
		}
	}
	work := make([]float32, p.Workspace()/4+1)
	if err := p.Run(0x57, librarytest.Pointer(x), librarytest.Pointer(w), librarytest.Pointer(y), librarytest.Pointer(work)); err != nil {
		t.Fatalf("%s, kind %d: %v", name, c.Kind, err)
	}
	for i, g := range [][]float32{y, x, w}[c.Kind] {
		if g != want[i] {
			t.Fatalf("%s, kind %d, %s: element %d is %v, want %v", name, c.Kind, p.Name(), i, g, want[i])
		}
	}
	if err := p.Run(0x58, librarytest.Pointer(x), librarytest.Pointer(w), librarytest.Pointer(y), librarytest.Pointer(work)); err == nil {
		t.Errorf("%s: a stream that is not", name)
	}
}
