package widgets

import (
	"encoding/json"
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"time"

	"golang.org/x/image/colornames"
)

// DatePicker is a field for a date.
type DatePicker struct{ timeValue }

// NewDatePicker returns a field for the date of a time in its location; the zero time is no date. The
// values are midnight in UTC. SetValue ignores dates outside of the years 1 to 9999.
func NewDatePicker(value time.Time, options ...Option) *DatePicker {
	return &DatePicker{newPicker("DatePicker", "DatePicker", value, func(t time.Time) any {
		return moment{time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), "year month date"}
	}, map[string]any{"step": 1}, options)}
}

// TimePicker is a field for a time of day.
type TimePicker struct{ timeValue }

// NewTimePicker returns a field for the time of day of a time in its location; the zero time is no time.
// The values are those of time.Parse("15:04:05.000", text): in UTC, on January 1 of year 0.
func NewTimePicker(value time.Time, options ...Option) *TimePicker {
	return &TimePicker{newPicker("TimePicker", "Time", value, func(t time.Time) any {
		return moment{time.Date(0, 1, 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), "hours minutes seconds milliseconds"}
	}, map[string]any{"step": 60}, options)}
}

// DatetimePicker is a field for a date with a time of day.
type DatetimePicker struct{ timeValue }

// NewDatetimePicker returns a field for a time; the zero time is none. A front end shows it in its own
// time zone; the values are in UTC. SetValue ignores dates outside of the years 1 to 9999.
func NewDatetimePicker(value time.Time, options ...Option) *DatetimePicker {
	return &DatetimePicker{newPicker("DatetimePicker", "Datetime", value, func(t time.Time) any {
		return moment{t.UTC(), "year month date hours minutes seconds milliseconds"}
	}, map[string]any{}, options)}
}

// newPicker returns a field for a time; of returns the part of a time that the field has.
func newPicker(name, model string, value time.Time, of func(time.Time) any, state map[string]any, options []Option) timeValue {
	fit := func(t time.Time) any {
		if t.IsZero() {
			return moment{}
		}
		m := of(t.Truncate(time.Millisecond)).(moment)
		if y := m.Year(); strings.Contains(m.fields, "year") && (y < 1 || y > 9999) {
			return nil
		}
		return m
	}
	layout := of(time.Unix(0, 0)).(moment).fields
	read := func(text json.RawMessage) (any, error) { return readMoment(text, layout) }
	state["min"], state["max"] = nil, nil
	w := newValued(kind[time.Time]{name: model, style: "DescriptionStyle", fit: fit, read: read, state: state}, value, options)
	w.model.text = func() string {
		description := describe(get[string](w.model, "description"), ", ")
		return fmt.Sprintf("%s(%svalue=%v)", name, description, w.field("value"))
	}
	return timeValue{w}
}

// moment is a time as the state has it: the zero time is null.
type moment struct {
	time.Time
	fields string // of the time in the state, separated by spaces
}

func (m moment) value() time.Time { return m.Time }

// MarshalJSON returns the fields, of which the months begin with 0.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.fields == "" {
		return []byte("null"), nil
	}
	all := map[string]int{
		"year": m.Year(), "month": int(m.Month()) - 1, "date": m.Day(),
		"hours": m.Hour(), "minutes": m.Minute(), "seconds": m.Second(), "milliseconds": m.Nanosecond() / 1e6,
	}
	fields := map[string]int{}
	for _, name := range strings.Fields(m.fields) {
		fields[name] = all[name]
	}
	return json.Marshal(fields)
}

// String returns the time in the usual format.
func (m moment) String() string {
	switch {
	case m.fields == "":
		return "none"
	case !strings.Contains(m.fields, "year"):
		return m.Format("15:04:05")
	case !strings.Contains(m.fields, "hours"):
		return m.Format(time.DateOnly)
	}
	return m.Format(time.RFC3339)
}

// readMoment decodes a time that has these fields. It rejects February 30.
func readMoment(text json.RawMessage, fields string) (any, error) {
	var all map[string]int
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return moment{}, err
	}
	date := strings.Contains(fields, "year")
	if !date {
		all["year"], all["month"], all["date"] = 0, 0, 1
	}
	t := time.Date(all["year"], time.Month(all["month"]+1), all["date"], all["hours"], all["minutes"], all["seconds"],
		all["milliseconds"]*1e6, time.UTC)
	found := moment{t, fields}
	if date && (t.Year() < 1 || t.Year() > 9999) {
		return nil, errRange
	}
	for name, value := range map[string]int{
		"year": t.Year(), "month": int(t.Month()) - 1, "date": t.Day(), "hours": t.Hour(), "minutes": t.Minute(), "seconds": t.Second(),
		"milliseconds": t.Nanosecond() / 1e6,
	} {
		if all[name] != value {
			return nil, fmt.Errorf("%s is %d, which no time has", name, all[name])
		}
	}
	return found, nil
}

// ColorPicker is a field for a color.
type ColorPicker struct{ valued[color.NRGBA] }

// NewColorPicker returns a field for a color; nil is black.
func NewColorPicker(value color.Color, options ...Option) *ColorPicker {
	if value == nil {
		value = color.Black
	}
	fit := func(c color.NRGBA) any { return css(c) }
	return &ColorPicker{newValued(kind[color.NRGBA]{name: "ColorPicker", style: "DescriptionStyle", fit: fit, read: readColor,
		state: map[string]any{"concise": false}}, color.NRGBAModel.Convert(value).(color.NRGBA), options)}
}

// Value returns the color.
func (p *ColorPicker) Value() color.NRGBA { return p.now() }

// SetValue sets the color.
func (p *ColorPicker) SetValue(value color.NRGBA) { p.put(value) }

// OnChange calls f when a user has changed the color. While f runs, further changes are joined: the next
// call has the newest color.
func (p *ColorPicker) OnChange(f func(value color.NRGBA)) { p.listen(f) }

// css is a color as the state has it.
type css color.NRGBA

func (c css) value() color.NRGBA { return color.NRGBA(c) }

// String returns the color in hexadecimal digits.
func (c css) String() string {
	if c.A == 255 {
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A)
}

func (c css) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// readColor decodes hexadecimal digits, one or two for each of red, green, blue and alpha, or a name of
// a color.
func readColor(text json.RawMessage) (any, error) {
	name, err := decode[string](text)
	if err != nil {
		return nil, err
	}
	if c, ok := colornames.Map[strings.ToLower(name)]; ok {
		return css{c.R, c.G, c.B, 255}, nil
	}
	digits, hex := strings.CutPrefix(name, "#")
	if n := len(digits); n == 3 || n == 4 {
		short := digits
		digits = ""
		for _, d := range []byte(short) {
			digits += string([]byte{d, d})
		}
	}
	if len(digits) == 6 {
		digits += "ff"
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !hex || len(digits) != 8 {
		return nil, fmt.Errorf("%q is not a color: want #rrggbb or a name of CSS", name)
	}
	return css{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}, nil
}
