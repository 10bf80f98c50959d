package display

import "github.com/quernlab/quern/internal/quantity"

// Integer formats a whole number like figures and tables do, with non-breaking spaces between
// thousands from five digits on: 1845, 12 000, 200 960.
func Integer(n int) string { return quantity.Integer(n) }
