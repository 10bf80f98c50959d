package widgets

import "time"

// The types below have the methods of widgets for each type of values. They are no generic methods, which
// cells cannot call and whose documentation does not name the type.

type stringValue struct{ valued[string] }

// Value returns the text.
func (w stringValue) Value() string { return w.now() }

// SetValue sets the text.
func (w stringValue) SetValue(value string) { w.put(value) }

// OnChange calls f when a user has changed the text. While f runs, further changes are joined: the next
// call has the newest value.
func (w stringValue) OnChange(f func(value string)) { w.listen(f) }

type intValue struct{ valued[int] }

// Value returns the number.
func (w intValue) Value() int { return w.now() }

// SetValue sets the number; a value outside of the range of the widget is clamped.
func (w intValue) SetValue(value int) { w.put(value) }

// OnChange calls f when a user has changed the number. While f runs, further changes are joined: the next
// call has the newest value.
func (w intValue) OnChange(f func(value int)) { w.listen(f) }

type floatValue struct{ valued[float64] }

// Value returns the number.
func (w floatValue) Value() float64 { return w.now() }

// SetValue sets the number; a value outside of the range of the widget is clamped, and NaN is ignored.
func (w floatValue) SetValue(value float64) { w.put(value) }

// OnChange calls f when a user has changed the number. While f runs, further changes are joined: the next
// call has the newest value.
func (w floatValue) OnChange(f func(value float64)) { w.listen(f) }

type boolValue struct{ valued[bool] }

// Value returns the value.
func (w boolValue) Value() bool { return w.now() }

// SetValue sets the value.
func (w boolValue) SetValue(value bool) { w.put(value) }

// OnChange calls f when a user has changed the value. While f runs, further changes are joined: the next
// call has the newest value.
func (w boolValue) OnChange(f func(value bool)) { w.listen(f) }

type intEnds struct{ valued[[2]int] }

// Value returns the ends of the range.
func (w intEnds) Value() [2]int { return w.now() }

// SetValue sets the ends of the range; ends outside of the range of the widget are clamped.
func (w intEnds) SetValue(value [2]int) { w.put(value) }

// OnChange calls f when a user has changed the ends of the range. While f runs, further changes are joined: the next
// call has the newest value.
func (w intEnds) OnChange(f func(value [2]int)) { w.listen(f) }

type floatEnds struct{ valued[[2]float64] }

// Value returns the ends of the range.
func (w floatEnds) Value() [2]float64 { return w.now() }

// SetValue sets the ends of the range; ends outside of the range of the widget are clamped, and NaN is ignored.
func (w floatEnds) SetValue(value [2]float64) { w.put(value) }

// OnChange calls f when a user has changed the ends of the range. While f runs, further changes are joined: the next
// call has the newest value.
func (w floatEnds) OnChange(f func(value [2]float64)) { w.listen(f) }

type timeValue struct{ valued[time.Time] }

// Value returns the time, the zero time if there is none.
func (w timeValue) Value() time.Time { return w.now() }

// SetValue sets the time; the zero time clears the field.
func (w timeValue) SetValue(value time.Time) { w.put(value) }

// OnChange calls f when a user has changed the time. While f runs, further changes are joined: the next
// call has the newest value.
func (w timeValue) OnChange(f func(value time.Time)) { w.listen(f) }
