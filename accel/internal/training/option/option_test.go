package option_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// settings and Option are those of a package example with a function Cook.
type settings struct {
	minutes int
	notes   []string
}

type setting = option.Of[settings]

type Option struct{ setting }

func minutes(n int) Option {
	return Option{option.Count("Minutes", n, 1, func(s *settings) *int { return &s.minutes })}
}

func note(texts ...string) Option {
	return Option{option.New(func(s *settings) { s.notes = append(s.notes, texts...) }, "Note", option.Each(texts)...)}
}

func cook(given ...Option) (settings, error) {
	s := settings{minutes: 5}
	return s, option.Apply("example.Cook", &s, given, "Minutes", "Note")
}

func TestText(t *testing.T) {
	none := func(*settings) {}
	for want, o := range map[string]option.Of[settings]{
		"Minutes(3)":             minutes(3).setting,
		`Note("a", "b \"c\"")`:   note("a", `b "c"`).setting,
		"Note()":                 note().setting,
		"Rest(1.5s, 0.001)":      option.New(none, "Rest", 1500*time.Millisecond, 1e-3),
		"To(&report)":            option.New(none, "To", option.Code("&report")),
		"All(Note(), Fast, 1e6)": option.New(none, "All", note(), option.Variable(none, "Fast"), option.Code("1e6")),
		"":                       {},
	} {
		if got := o.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestApply(t *testing.T) {
	other := Option{option.New(func(s *settings) { s.minutes = -1 }, "Salt", 2)}
	checked := Option{option.New(func(*settings) {}, "Note", "x").Check(io.ErrUnexpectedEOF).Require(false, "later")}
	for _, tt := range []struct {
		name    string
		given   []Option
		minutes int
		notes   string
		err     string
	}{
		{"none", nil, 5, "[]", ""},
		{"in their order", []Option{minutes(1), note("a"), {}, minutes(2), note("b", "c")}, 2, "[a b c]", ""},
		{"invalid", []Option{minutes(0)}, 5, "[]", "example: Minutes(0): the number must be at least 1"},
		{"another function's", []Option{note("a"), other}, 5, "[a]", "example: Cook does not take Salt(2): its options are Minutes and Note"},
		{"the first reason", []Option{checked}, 5, "[]", `example: Note("x"): unexpected EOF`},
	} {
		s, err := func() (settings, error) {
			s := settings{minutes: 5}
			err := option.Apply("example.Cook", &s, tt.given, "Minutes", "Note")
			return s, err
		}()
		if fmt.Sprint(err) != tt.err && (err != nil || tt.err != "") || s.minutes != tt.minutes || fmt.Sprint(s.notes) != tt.notes {
			t.Errorf("%s: %v, %v", tt.name, s, err)
		}
	}
	if _, err := cook(checked); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the error does not wrap its reason: %v", err)
	}
	var e *option.Error
	if _, err := cook(other); !errors.As(err, &e) || e.Name != "Salt" || e.Function != "Cook" {
		t.Errorf("got %v", err)
	}
}

func TestReason(t *testing.T) {
	for want, given := range map[string][]Option{
		"": {minutes(1)},
		"does not take Note(): its option is Minutes": {note()},
		"Minutes(-1): the number must be at least 1":  {minutes(-1)},
	} {
		if got := option.Reason(&settings{}, given, "Minutes"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
