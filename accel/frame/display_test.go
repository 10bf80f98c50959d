package frame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/internal/golden"
)

func TestDisplay(t *testing.T) {
	t.Parallel()
	people, _, _ := load(t)
	bundle := people.MIMEBundle()
	golden.Check(t, "display.html", []byte(fmt.Sprint(bundle["text/html"])))
	golden.Check(t, "display.txt", []byte(fmt.Sprint(bundle["text/plain"])))
	for _, f := range []*frame.Frame{frame.New(), new(frame.Frame), frame.New(frame.Texts("<b>", "<i>", "a\nb", strings.Repeat("é", 100))), people.Head(0)} {
		if page, text := fmt.Sprint(f.MIMEBundle()["text/html"]), f.String(); strings.Contains(page, "<b>") || strings.Contains(page, "<i>") || strings.Count(text, "\n") != 2+f.Len() {
			t.Errorf("got %s\n%s", page, text)
		}
	}
}
