package interp

import "reflect"

// symbols is the table of the package "quern/session", which lowered code calls:
//
//	Result(values...)          the values of the cell's last expression
//	Go(cell, f)                a go statement
//	Guard(cell, f) func()      f, to be run by a goroutine of compiled code
//	Stop()                     ends interrupted code; called when the stop flag is up
//	Stopped() bool             the stop flag, under the race detector
//	Unread(err, name, cell, line, column)  err is about to be lost and was not read
//	ErrorBegin, ErrorOverwrite, ErrorCheck     the methods of unreadErrors
func (s *Session) symbols() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Result":  reflect.ValueOf(s.setResult),
		"Go":      reflect.ValueOf(s.goroutines.Start),
		"Guard":   reflect.ValueOf(s.goroutines.Guard),
		"Stop":    reflect.ValueOf(s.goroutines.Check),
		"Stopped": reflect.ValueOf(s.flag.Up().Load),
		"Unread":  reflect.ValueOf(s.unread.Lose),

		"ErrorBegin":     reflect.ValueOf(s.unread.Begin),
		"ErrorOverwrite": reflect.ValueOf(s.unread.Overwrite),
		"ErrorCheck":     reflect.ValueOf(s.unread.Check),
	}
}
