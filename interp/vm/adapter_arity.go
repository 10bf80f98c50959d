package vm

import "unsafe"

// The functions of this file go from the first parameter to the last, and give
// each its type; those of adapter_gen.go are what they end in.

// none returns where a calling's parameters begin.
func (c *calling) none() adapter {
	if len(c.in) == 0 {
		return results0(c)
	}
	switch c.in[0].class {
	case asInteger:
		return first[int64](c)
	case asFloat:
		return first[float64](c)
	case asText:
		return first[string](c)
	case asPointer:
		return first[unsafe.Pointer](c)
	case asList:
		return first[[]byte](c)
	}
	return first[any](c)
}

func first[A any](c *calling) adapter {
	if len(c.in) == 1 {
		return results1[A](c)
	}
	switch c.in[1].class {
	case asInteger:
		return second[A, int64](c)
	case asFloat:
		return second[A, float64](c)
	case asText:
		return second[A, string](c)
	case asPointer:
		return second[A, unsafe.Pointer](c)
	case asList:
		return second[A, []byte](c)
	}
	return second[A, any](c)
}

func second[A, B any](c *calling) adapter {
	if len(c.in) == 2 {
		return results2[A, B](c)
	}
	if len(c.in) > 3 {
		return nil
	}
	switch c.in[2].class {
	case asInteger:
		return results3[A, B, int64](c)
	case asText:
		return results3[A, B, string](c)
	case asPointer:
		return results3[A, B, unsafe.Pointer](c)
	case asList:
		return results3[A, B, []byte](c)
	case asInterface:
		return results3[A, B, any](c)
	}
	return nil
}
