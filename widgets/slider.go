package widgets

import (
	"encoding/json"
	"math"
	"strconv"
)

// IntSlider is a slider for integers.
type IntSlider struct{ intValue }

// NewIntSlider returns a slider from min to max. A value outside is clamped.
func NewIntSlider(min, max, value int, options ...Option) *IntSlider {
	min, max = order(min, max)
	fit := within(min, max)
	k := kind[int]{name: "IntSlider", style: sliderStyle, fit: fit, read: readInt(fit), state: slider(min, max, 1, "d")}
	return &IntSlider{intValue{newValued(k, value, options)}}
}

const sliderStyle = "SliderStyle"

// slider returns the fields of a slider.
func slider(low, high, step any, format string) map[string]any {
	return map[string]any{
		"min": low, "max": high, "step": step, "readout_format": format,
		"orientation": "horizontal", "readout": true, "continuous_update": true, "behavior": "drag-tap",
	}
}

// FloatSlider is a slider for floating-point numbers.
type FloatSlider struct{ floatValue }

// NewFloatSlider returns a slider from min to max, which must be finite. A value outside is clamped;
// NaN becomes min.
func NewFloatSlider(min, max, value float64, options ...Option) *FloatSlider {
	min, max = order(min, max)
	step, fit := hundredth(min, max), within(min, max)
	read := func(text json.RawMessage) (any, error) {
		v, err := decode[float64](text)
		return fit(rounded(v, step)), err
	}
	k := kind[float64]{name: "FloatSlider", style: sliderStyle, fit: fit, read: read, state: slider(min, max, step, ".3g")}
	return &FloatSlider{floatValue{newValued(k, orElse(value, min), options)}}
}

// hundredth returns the step of a slider for floating-point numbers.
func hundredth(low, high float64) float64 {
	if step := (high - low) / 100; step != 0 {
		return step
	}
	return 0.1
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

// FloatLogSlider is a slider for floating-point numbers whose positions are powers of ten, such as
// learning rates.
type FloatLogSlider struct{ floatValue }

// NewFloatLogSlider returns a slider from 10^min to 10^max; [Step] is the distance of the exponents, 0.1
// if it is not given. A value outside is clamped; NaN becomes 10^min.
func NewFloatLogSlider(min, max, value float64, options ...Option) *FloatLogSlider {
	min, max = order(min, max)
	low, high := math.Pow(10, min), math.Pow(10, max)
	fit := within(low, high)
	read := func(text json.RawMessage) (any, error) {
		v, err := decode[float64](text)
		if short, wrong := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64); wrong == nil {
			v = short // without the rounding error of the power
		}
		return fit(v), err
	}
	state := slider(min, max, 0.1, ".3g")
	state["base"] = 10.0
	k := kind[float64]{name: "FloatLogSlider", style: sliderStyle, fit: fit, read: read, state: state}
	return &FloatLogSlider{floatValue{newValued(k, orElse(value, low), options)}}
}

// IntRangeSlider is a slider for two integers, the lower and the upper end of a range.
type IntRangeSlider struct{ intEnds }

// NewIntRangeSlider returns a slider from min to max for a range. Values outside are clamped.
func NewIntRangeSlider(min, max int, value [2]int, options ...Option) *IntRangeSlider {
	min, max = order(min, max)
	fit := withinBoth(min, max)
	read := func(text json.RawMessage) (any, error) {
		v, err := decodeBoth(text)
		return fit([2]int{int(clamp(v[0], -exact, exact)), int(clamp(v[1], -exact, exact))}), err
	}
	k := kind[[2]int]{name: "IntRangeSlider", style: sliderStyle, fit: fit, read: read, state: slider(min, max, 1, "d")}
	return &IntRangeSlider{intEnds{newValued(k, value, options)}}
}

// FloatRangeSlider is a slider for two numbers, the lower and the upper end of a range.
type FloatRangeSlider struct{ floatEnds }

// NewFloatRangeSlider returns a slider from min to max, which must be finite, for a range. Values
// outside are clamped; NaN becomes min or max.
func NewFloatRangeSlider(min, max float64, value [2]float64, options ...Option) *FloatRangeSlider {
	min, max = order(min, max)
	step, fit := hundredth(min, max), withinBoth(min, max)
	read := func(text json.RawMessage) (any, error) {
		v, err := decodeBoth(text)
		return fit([2]float64{rounded(v[0], step), rounded(v[1], step)}), err
	}
	value = [2]float64{orElse(value[0], min), orElse(value[1], max)}
	k := kind[[2]float64]{name: "FloatRangeSlider", style: sliderStyle, fit: fit, read: read, state: slider(min, max, step, ".3g")}
	return &FloatRangeSlider{floatEnds{newValued(k, value, options)}}
}

// decodeBoth decodes the ends of a range.
func decodeBoth(text json.RawMessage) (v [2]float64, err error) {
	ends, err := decode[[]float64](text)
	if err == nil && len(ends) != 2 {
		err = errEnds
	}
	if err != nil {
		return v, err
	}
	return [2]float64(ends), nil
}

// withinBoth is within for the ends of a range, of which the lower one becomes the first.
func withinBoth[T int | float64](low, high T) func([2]T) any {
	fit := within(low, high)
	return func(v [2]T) any {
		a, ok := fit(v[0]).(T)
		b, both := fit(v[1]).(T)
		if !ok || !both {
			return nil
		}
		a, b = order(a, b)
		return [2]T{a, b}
	}
}
