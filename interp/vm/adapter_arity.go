package vm

import "unsafe"

// The functions of this file choose the type of each parameter, from the first to the last. The functions
// of adapter_gen.go then choose the types of the results.

// adapter returns the adapter for a signature, or nil.
func (c *callSignature) adapter() adapter {
	if len(c.in) == 0 {
		return results0(c)
	}
	switch c.in[0].class {
	case classInteger:
		return bindFirst[int64](c)
	case classFloat:
		return bindFirst[float64](c)
	case classString:
		return bindFirst[string](c)
	case classPointer:
		return bindFirst[unsafe.Pointer](c)
	case classSlice:
		return bindFirst[[]byte](c)
	}
	return bindFirst[any](c)
}

func bindFirst[A any](c *callSignature) adapter {
	if len(c.in) == 1 {
		return results1[A](c)
	}
	switch c.in[1].class {
	case classInteger:
		return bindSecond[A, int64](c)
	case classFloat:
		return bindSecond[A, float64](c)
	case classString:
		return bindSecond[A, string](c)
	case classPointer:
		return bindSecond[A, unsafe.Pointer](c)
	case classSlice:
		return bindSecond[A, []byte](c)
	}
	return bindSecond[A, any](c)
}

func bindSecond[A, B any](c *callSignature) adapter {
	if len(c.in) == 2 {
		return results2[A, B](c)
	}
	if len(c.in) > 3 {
		return nil
	}
	switch c.in[2].class {
	case classInteger:
		return results3[A, B, int64](c)
	case classString:
		return results3[A, B, string](c)
	case classPointer:
		return results3[A, B, unsafe.Pointer](c)
	case classSlice:
		return results3[A, B, []byte](c)
	case classInterface:
		return results3[A, B, any](c)
	}
	return nil
}
