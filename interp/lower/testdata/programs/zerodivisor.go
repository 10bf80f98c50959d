package main

import "fmt"

type celsius float64

func quotient(x float64) float64          { return 1 + x/0.0 }
func single(x float32) float32            { return x / 0 }
func named(x celsius) celsius             { return x / 2 / 0 }
func imaginary(x complex128) complex128   { return x / 0 }
func ratio[T float32 | float64](x T) T    { return x / 0 }
func assigned(x float64) (y float64)      { y = x; y /= 0; return y }
func product(x float64, y celsius) string { return fmt.Sprint(x*0/0, y*2/0) }

func main() {
	const zero = 0.0
	for _, x := range []float64{-1, 0, 2} {
		fmt.Println(quotient(x), single(float32(x)), named(celsius(x)), imaginary(complex(x, 0)), ratio(x), assigned(x), product(x, 1), x/zero)
	}
}
