package yaegi

// A Frame is an active function.
type Frame struct {
	Function string // the name in lowered code, or the compiler's name; "" for unknown frames
	Compiled bool
	At       int // the position that the function last stored; 0 if it has stored none
}
