package nn

// Repeat chains n modules that make makes, numbered from 0.
func Repeat(n int, make func(i int) Module) *SequentialLayer {
	c := Sequential()
	for i := range n {
		c.Add(make(i))
	}
	return c
}
