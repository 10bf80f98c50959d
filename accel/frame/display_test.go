package frame_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/internal/golden"
)

func TestDisplay(t *testing.T) {
	t.Parallel()
	people, _, _ := load(t)
	bundle := people.MIMEBundle()
	script := regexp.MustCompile(`(?s)<script>.*?</script>`)
	golden.Check(t, "display.html", []byte(script.ReplaceAllString(fmt.Sprint(bundle["text/html"]), "<script>…</script>")))
	golden.Check(t, "display.txt", []byte(fmt.Sprint(bundle["text/plain"])))
	for _, f := range []*frame.Frame{frame.New(), new(frame.Frame), frame.New(frame.Texts("<b>", "<i>", "a\nb", strings.Repeat("é", 100))), people.Head(0)} {
		if page, text := fmt.Sprint(f.MIMEBundle()["text/html"]), f.String(); strings.Contains(page, "<b>") || strings.Contains(page, "<i>") || strings.Count(text, "\n") != 2+f.Len() {
			t.Errorf("got %s\n%s", page, text)
		}
	}
}

// The last column is often the target, so a wide frame has a gap in the middle.
func TestDisplayOfManyColumns(t *testing.T) {
	for n, want := range map[int]string{
		30: "c29;1 row × 30 columns",
		31: "c19 … c21;c30;1 row × 31 columns, 1 in the middle not shown: use Select",
		99: "c19 … c89;c98;1 row × 99 columns, 69 in the middle not shown: use Select",
	} {
		var columns []frame.Column
		for i := range n {
			columns = append(columns, frame.Ints(fmt.Sprint("c", i), i))
		}
		f := frame.New(columns...)
		text := strings.Join(strings.Fields(f.String()), " ")
		page, _ := f.MIMEBundle()["text/html"].(string)
		for _, part := range strings.Split(want, ";") {
			if !strings.Contains(text, part) {
				t.Errorf("%d columns: %q is not in\n%s", n, part, f)
			}
		}
		if cells := strings.Count(page, "<td"); n <= 30 && cells != n || n > 30 && (cells != 31 || strings.Count(page, ">…</td>") != 1) {
			t.Errorf("%d columns: %d cells\n%s", n, cells, page)
		}
	}
}

// In the page of a frame, numbers are sorted by their values, not by the digits that are shown.
func TestDisplayIsSortedByValue(t *testing.T) {
	f := frame.New(frame.Floats("id", 1234567, 1234568, 1, math.NaN()), frame.Times("at", time.Unix(1, 0).UTC(), time.Unix(0, 5).UTC(), time.Time{}, time.Unix(0, 0).UTC()),
		frame.Texts("name", "a", "b", "c", "d"), frame.Texts("size", "10 MB", "9 kB", "1,234 B", "–"))
	page := fmt.Sprint(f.MIMEBundle()["text/html"])
	var keys []string
	for _, m := range regexp.MustCompile(`data-key="(.*?)">(.*?)<`).FindAllStringSubmatch(page, -1) {
		keys = append(keys, m[2]+" by "+m[1])
	}
	want := "1.23457e+06 by 1.234567e+06, 1970-01-01T00:00:01Z by 1000000000, 10 MB by 1e+07, " +
		"1.23457e+06 by 1.234568e+06, 1970-01-01T00:00:00.000000005Z by 5, 9 kB by 9000, missing by , 1,234 B by 1234, missing by , 1970-01-01 by 0"
	if got := strings.Join(keys, ", "); got != want || !strings.Contains(page, `"kinds":"nnntn"`) {
		t.Errorf("got %s, want %s in\n%s", got, want, page)
	}
}
