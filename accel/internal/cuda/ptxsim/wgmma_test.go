package ptxsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// wgmmaKernel multiplies 64×64 matrices that tensor copies bring to shared
// memory. transposeA and transposeB say which matrix is not contiguous along k.
func wgmmaKernel(transposeA, transposeB bool, change func(string) string) string {
	var d []string
	for i := range 32 {
		d = append(d, fmt.Sprintf("%%f%d", i))
	}
	flag := map[bool]string{true: "1", false: "0"}
	step := map[bool]int{true: 16 * 128 >> 4, false: 32 >> 4} // of a descriptor's address for 16 of k
	var products strings.Builder
	for i := range 4 {
		fmt.Fprintf(&products, "\tadd.u64 %%d5, %%d3, %d; add.u64 %%d6, %%d4, %d; setp.ne.u32 %%p2, %d, 0;\n", i*step[transposeA], i*step[transposeB], i)
		fmt.Fprintf(&products, "\twgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%s}, %%d5, %%d6, %%p2, 1, 1, %s, %s;\n", strings.Join(d, ","), flag[transposeA], flag[transposeB])
	}
	var stores strings.Builder
	for i, f := range d {
		fmt.Fprintf(&stores, "\tst.global.f32 [%%d8+%d], %s;\n", 4*i, f)
	}
	return change(`.version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 sa[8192];
.shared .align 1024 .b8 sb[8192];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 out, .param .align 64 .b8 ma[128], .param .align 64 .b8 mb[128])
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<5>; .reg .f32 %f<32>;
	mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
	@%p1 bra READY;
	mbarrier.init.shared.b64 [bar], 1;
	fence.mbarrier_init.release.cluster;
READY:
	bar.sync 0;
	@%p1 bra WAIT;
	mov.b64 %d1, ma; cvta.param.u64 %d1, %d1;
	mov.b64 %d2, mb; cvta.param.u64 %d2, %d2;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16384;
	mov.u32 %r2, 0;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sa], [%d1, {%r2, %r2}], [bar];
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sb], [%d2, {%r2, %r2}], [bar];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;
	@!%p3 bra WAIT;
	mov.u64 %d3, sa; shr.u64 %d3, %d3, 4; or.b64 %d3, %d3, 0x4000004000000000;
	mov.u64 %d4, sb; shr.u64 %d4, %d4, 4; or.b64 %d4, %d4, 0x4000004000000000;
	wgmma.fence.sync.aligned;
` + products.String() + `	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	ld.param.u64 %d7, [out]; mad.wide.u32 %d8, %r1, 128, %d7;
` + stores.String() + `	ret;
}`)
}

// launchMatmul runs the kernel on random matrices, stored transposed as requested.
func launchMatmul(t *testing.T, ptx string, transposeA, transposeB bool) (a, b [64][64]float64, out []float32, err error) {
	t.Helper()
	m := newSimulator(t)
	k := m.load(ptx).Kernel("k")
	r := rand.New(rand.NewPCG(8, 9))
	matrix := func(v *[64][64]float64, transposed bool) []byte {
		stored := make([]uint16, 64*64)
		for i := range 64 {
			for p := range 64 {
				bits := uint16(math.Float32bits(r.Float32()-0.5) >> 16)
				v[i][p] = formatB16.decode(uint64(bits))
				if transposed {
					stored[64*p+i] = bits
				} else {
					stored[64*i+p] = bits
				}
			}
		}
		tm := TensorMap{Element: 2, Address: put(m, stored), Shape: []uint64{64, 64}, Strides: []uint64{128}, Box: []uint32{64, 64}, Swizzle: 128}
		encoded, err := tm.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return encoded[:]
	}
	p := make([]byte, k.ParamBytes())
	result := m.alloc(4 * 64 * 64)
	putBits(p, result, 8)
	copy(p[64:], matrix(&a, transposeA))
	copy(p[192:], matrix(&b, transposeB))
	if _, err := k.Run(context.Background(), Launch{Block: Dim{X: 128}, Params: p, MaxSteps: 1e7}); err != nil {
		return a, b, nil, err
	}
	return a, b, get[float32](m, result, 64*64), nil
}

func unchanged(s string) string { return s }

func TestWarpgroupMatmul(t *testing.T) {
	t.Parallel()
	for _, transposeA := range []bool{false, true} {
		for _, transposeB := range []bool{false, true} {
			a, b, out, err := launchMatmul(t, wgmmaKernel(transposeA, transposeB, unchanged), transposeA, transposeB)
			if err != nil {
				t.Fatal(err)
			}
			for thread := range 128 {
				for i := range 32 {
					row := 16*(thread/32) + thread%32/4 + 8*(i/2%2)
					column := 8*(i/4) + 2*(thread%4) + i%2
					want := 0.0
					for p := range 64 {
						want += a[row][p] * b[column][p]
					}
					if got := out[32*thread+i]; math.Abs(float64(got)-want) > 1e-5 {
						t.Fatalf("transposed %v %v: d[%d][%d] = %v, want %v", transposeA, transposeB, row, column, got, want)
					}
				}
			}
		}
	}
}

func TestWarpgroupFaults(t *testing.T) {
	t.Parallel()
	replace := func(old, now string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("%q is not in the kernel", old)
			}
			return strings.Replace(s, old, now, 1)
		}
	}
	for _, row := range []struct {
		name   string
		change func(string) string
		kind   FaultKind
		detail string
	}{
		{"not waited for", replace("\t@!%p3 bra WAIT;\n", ""), Race, ""},
		{"bytes too many", replace("16384", "16400"), DivergentBarrier, "lacks 0 arrivals and 16 bytes"},
		{"bytes too few", replace("16384", "16368"), DivergentBarrier, "lacks 0 arrivals and -16 bytes"},
		{"nobody arrives", replace("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16384;", "mbarrier.expect_tx.shared.b64 [bar], 16384;"), DivergentBarrier, "lacks 1 arrivals"},
		{"no mbarrier", replace("mbarrier.init.shared.b64 [bar], 1;", ""), Uninitialized, "there is no mbarrier"},
		{"mbarrier made without a barrier", replace("\tbar.sync 0;\n", ""), Race, "no barrier since"},
		{"mbarrier not shown to copies", replace("\tfence.mbarrier_init.release.cluster;\n", ""), Race, "no fence.proxy.async since"},
		{"matrix not shown to wgmma", replace("\twgmma.fence", "\tst.shared.u32 [sa], 0; bar.sync 0;\n\twgmma.fence"), Race, "no fence.proxy.async since"},
		{"too many arrivals", replace("\twgmma.fence", "\tmbarrier.arrive.shared.b64 _, [bar], 2;\n\twgmma.fence"), Trapped, "more arrivals"},
		{"overwritten before the group is waited for", replace("\twgmma.wait_group", "\tbar.sync 0; st.shared.v4.f32 [sa], {%f0,%f1,%f2,%f3};\n\twgmma.wait_group"), Race, ""},
		{"copied over what others read", replace("\twgmma.wait_group.sync.aligned 0;", "\twgmma.wait_group.sync.aligned 0;\n\t@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sa], [%d1, {%r2, %r2}], [bar];"), Race, ""},
		{"descriptor past the end", replace("mov.u64 %d4, sb;", "mov.u64 %d4, sb; add.u64 %d4, %d4, 4096;"), OutOfBounds, "shared variable"},
		{"no map", replace("cvta.param.u64 %d1, %d1;", "cvta.param.u64 %d1, %d1; add.u64 %d1, %d1, 64;"), Trapped, "no tensor map"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, _, _, err := launchMatmul(t, wgmmaKernel(false, false, row.change), false, false)
			var f *Fault
			if !errors.As(err, &f) || f.Kind != row.kind || !strings.Contains(f.Error(), row.detail) {
				t.Errorf("got %v\nwant %v, %q", err, row.kind, row.detail)
			}
		})
	}
}

// After a fence, wgmma reads what threads wrote, although it differs from the copied data.
func TestFencedWrite(t *testing.T) {
	t.Parallel()
	fenced := func(text string) string {
		return strings.Replace(text, "\twgmma.fence", "\tst.shared.u32 [sa], 0; fence.proxy.async; bar.sync 0;\n\twgmma.fence", 1)
	}
	if _, _, _, err := launchMatmul(t, wgmmaKernel(false, false, fenced), false, false); err != nil {
		t.Error(err)
	}
}

// A box that crosses the tensor's edges is padded.
func TestTensorCopyEdges(t *testing.T) {
	t.Parallel()
	for _, nan := range []bool{false, true} {
		m := newSimulator(t)
		k := m.load(`.version 8.0
.target sm_90a
.address_size 64
.shared .align 128 .b8 s[512];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<5>;
	mbarrier.init.shared::cta.b64 [bar], 1;
	fence.proxy.async.shared::cta;
	mov.b64 %d1, map; cvta.param.u64 %d1, %d1;
	mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d3, [bar], 512;
	cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%d1, {-2, 3, 1}], [bar];
WAIT:
	mbarrier.test_wait.shared::cta.b64 %p1, [bar], %d3;
	@!%p1 bra WAIT;
	ld.param.u64 %d2, [out]; mov.u32 %r1, 0; mov.u32 %r3, s;
COPY:
	add.u32 %r4, %r3, %r1; ld.shared.u32 %r2, [%r4]; cvt.u64.u32 %d4, %r1; add.u64 %d5, %d2, %d4; st.global.u32 [%d5], %r2;
	add.u32 %r1, %r1, 4; setp.lt.u32 %p2, %r1, 512; @%p2 bra COPY;
	ret;
}`).Kernel("k")
		// A tensor of 2 × 5 × 6 numbers, rows 32 bytes apart; the box is 2 × 8 × 8.
		values := make([]float32, 2*5*8)
		for i := range values {
			values[i] = float32(i + 1)
		}
		tm := TensorMap{Element: 4, Address: put(m, values), Shape: []uint64{6, 5, 2}, Strides: []uint64{32, 160}, Box: []uint32{8, 8, 2}, NaNFill: nan}
		encoded, err := tm.Encode()
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, k.ParamBytes())
		out := m.alloc(512)
		putBits(p, out, 8)
		copy(p[64:], encoded[:])
		if _, err := k.Run(context.Background(), Launch{Params: p, MaxSteps: 1e6}); err != nil {
			t.Fatal(err)
		}
		for i, got := range get[float32](m, out, 128) {
			x, y, z := i%8-2, i/8%8+3, i/64+1
			want := float32(0)
			if x >= 0 && x < 6 && y < 5 && z < 2 {
				want = values[40*z+8*y+x]
			} else if nan {
				want = float32(math.NaN())
			}
			if got != want && !(got != got && want != want) {
				t.Fatalf("NaN %v: element %d is %v, want %v", nan, i, got, want)
			}
		}
	}
}
