//go:build !purego

package cpu

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Constants of Apple's header vecLib/cblas.h.
const (
	cblasRowMajor  = 101
	cblasNoTrans   = 111
	cblasTrans     = 112
	accelerateName = "Accelerate"
	acceleratePath = "/System/Library/Frameworks/Accelerate.framework/Accelerate"
)

// systemLibrary opens Accelerate without cgo. Its cblas_sgemm starts threads of its own. Go's heap does not move, so the
// pointers stay valid during a call.
func systemLibrary() (f sgemm, name string, err error) {
	defer func() {
		if e := recover(); e != nil { // purego panics if a symbol is missing
			f, err = nil, fmt.Errorf("%s is not used: %v", accelerateName, e)
		}
	}()
	handle, err := purego.Dlopen(acceleratePath, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, "", fmt.Errorf("%s is not used: %w", accelerateName, err)
	}
	var cblas func(order, transA, transB, m, n, k int32, alpha float32, a *float32, lda int32, b *float32, ldb int32, beta float32, c *float32, ldc int32)
	purego.RegisterLibFunc(&cblas, handle, "cblas_sgemm")
	operand := func(m matrix) (trans, ld int32) {
		if m.col == 1 {
			return cblasNoTrans, int32(m.row)
		}
		return cblasTrans, int32(m.col)
	}
	return func(c []float32, m, n, k int, a, b matrix) {
		transA, lda := operand(a)
		transB, ldb := operand(b)
		cblas(cblasRowMajor, transA, transB, int32(m), int32(n), int32(k), 1, &a.data[0], lda, &b.data[0], ldb, 0, &c[0], int32(n))
	}, accelerateName, nil
}
