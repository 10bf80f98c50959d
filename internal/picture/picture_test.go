package picture

import (
	"net/url"
	"regexp"
	"testing"
)

// The image contains exactly the drawing, whatever characters it has.
func TestHTML(t *testing.T) {
	for _, svg := range []string{
		"<svg xmlns=\"http://www.w3.org/2000/svg\"><text fill=\"#fff\">100 % of 'a' &lt; \"b\"</text>\n</svg>\n",
		"<svg>%23 é − 中 %%</svg>",
	} {
		page := HTML(svg, `a "b"`, 7)
		found := regexp.MustCompile(`^<style>[^<]*</style><img class="quern-figure" alt="a &#34;b&#34;" width="7" style="[^"]*" src='data:image/svg\+xml,([^'<>&#]*)'>$`).FindStringSubmatch(page)
		if found == nil {
			t.Errorf("%s", page)
			continue
		}
		if got, err := url.PathUnescape(found[1]); err != nil || got != svg {
			t.Errorf("the image is %q, %v, want %q", got, err, svg)
		}
	}
}
