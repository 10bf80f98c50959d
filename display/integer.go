package display

import "strconv"

// Integer formats a whole number like figures and tables do, with non-breaking spaces between
// thousands from five digits on: 1845, 12 000, 200 960.
func Integer(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	if len(digits) < 5 {
		return sign + digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return sign + digits
}
