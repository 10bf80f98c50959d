package nn

// Repeat returns a Sequential of the n modules that make returns for 0 to n-1.
func Repeat(n int, make func(i int) Module) *SequentialLayer {
	c := Sequential()
	for i := range n {
		c.Add(make(i))
	}
	return c
}
