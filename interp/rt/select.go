package rt

import (
	"reflect"
	"slices"
)

// Select runs a select statement and returns the index of the chosen case. directions
// has a letter for each case in source order: s for send, r for receive, d for default.
// operands are two for each case but the default: the channel, and a pointer to the sent
// value or to the receiving variable; nil discards the received value. ok is the second
// result of a receive.
func (r *routines) Select(directions string, operands ...any) (chosen int, ok bool) {
	cases, variables := selectCases(directions, operands)
	var value reflect.Value
	if slices.ContainsFunc(cases, func(c reflect.SelectCase) bool {
		return c.Dir == reflect.SelectRecv && Outside(c.Chan.Type())
	}) {
		chosen, value, ok = r.ChooseOutside(cases)
	} else {
		chosen, value, ok = r.Choose(cases)
	}
	if variable := variables[chosen]; variable.IsValid() {
		variable.Set(value)
	}
	return chosen, ok
}

// Choose is reflect.Select, but ends when its goroutine must stop.
func (r *routines) Choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

// ChooseOutside is Choose if one of the cases receives from a channel of an outside type.
func (r *routines) ChooseOutside(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

func (r *routines) choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	if hasDefault(cases) {
		return reflect.Select(cases)
	}
	return r.selectOrStop(cases)
}

// selectCases returns the cases of a select statement and the receiving variables.
func selectCases(directions string, operands []any) ([]reflect.SelectCase, []reflect.Value) {
	cases, variables := make([]reflect.SelectCase, len(directions), len(directions)+1), make([]reflect.Value, len(directions))
	for i, direction := range directions {
		if direction == 'd' {
			cases[i].Dir = reflect.SelectDefault
			continue
		}
		channel, pointer := reflect.ValueOf(operands[0]), reflect.ValueOf(operands[1])
		operands = operands[2:]
		if direction == 'r' {
			cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: channel}
			if pointer.IsValid() {
				variables[i] = pointer.Elem()
			}
			continue
		}
		cases[i].Dir = reflect.SelectSend
		if !channel.IsNil() { // reflect.Select takes no value for a nil channel
			cases[i].Chan, cases[i].Send = channel, pointer.Elem()
		}
	}
	return cases, variables
}

func hasDefault(cases []reflect.SelectCase) bool {
	for _, c := range cases {
		if c.Dir == reflect.SelectDefault {
			return true
		}
	}
	return false
}
