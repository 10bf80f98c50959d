package widgets

import (
	"encoding/json"
	"math"
	"strconv"
)

// IntSlider is a slider for integers.
type IntSlider struct{ *model }

// NewIntSlider returns a slider from min to max. A value outside is clamped.
func NewIntSlider(min, max, value int, options ...Option) *IntSlider {
	if max < min {
		min, max = max, min
	}
	s := &IntSlider{newControl("IntSlider", "SliderStyle", map[string]any{
		"value": clamp(value, min, max), "min": min, "max": max, "step": 1,
		"orientation": "horizontal", "readout": true, "readout_format": "d", "continuous_update": true, "disabled": false, "behavior": "drag-tap",
	}, options)}
	s.accepts["value"] = func(text json.RawMessage) (any, error) {
		v, err := decode[float64](text) // some front ends write integers with a decimal point
		return int(clamp(v, float64(min), float64(max))), err
	}
	return s
}

func clamp[T int | float64](v, low, high T) T { return max(low, min(v, high)) }

// Value returns the value of the slider.
func (s *IntSlider) Value() int { return get[int](s.model, "value") }

// SetValue moves the slider; a value outside its range is clamped.
func (s *IntSlider) SetValue(value int) {
	s.set("value", clamp(value, get[int](s.model, "min"), get[int](s.model, "max")))
}

// OnChange calls f when a user has moved the slider.
func (s *IntSlider) OnChange(f func(value int)) { s.onChange(func() { f(s.Value()) }) }

func (s *IntSlider) current() any { return s.Value() }

// FloatSlider is a slider for floating-point numbers.
type FloatSlider struct{ *model }

// NewFloatSlider returns a slider from min to max. A value outside is clamped.
func NewFloatSlider(min, max, value float64, options ...Option) *FloatSlider {
	if max < min {
		min, max = max, min
	}
	step := (max - min) / 100
	if step == 0 {
		step = 0.1
	}
	s := &FloatSlider{newControl("FloatSlider", "SliderStyle", map[string]any{
		"value": clamp(value, min, max), "min": min, "max": max, "step": step,
		"orientation": "horizontal", "readout": true, "readout_format": ".3g", "continuous_update": true, "disabled": false, "behavior": "drag-tap",
	}, options)}
	s.accepts["value"] = func(text json.RawMessage) (any, error) {
		v, err := decode[float64](text)
		return clamp(rounded(v, step), min, max), err
	}
	return s
}

// rounded removes the rounding error of a front end, which adds steps to the minimum: 1.74 and not
// 1.7400000000000002.
func rounded(v, step float64) float64 {
	digits := max(0, int(math.Ceil(-math.Log10(step)))+6)
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// Value returns the value of the slider.
func (s *FloatSlider) Value() float64 { return get[float64](s.model, "value") }

// SetValue moves the slider; a value outside its range is clamped.
func (s *FloatSlider) SetValue(value float64) {
	s.set("value", clamp(value, get[float64](s.model, "min"), get[float64](s.model, "max")))
}

// OnChange calls f when a user has moved the slider.
func (s *FloatSlider) OnChange(f func(value float64)) { s.onChange(func() { f(s.Value()) }) }

func (s *FloatSlider) current() any { return s.Value() }
