package secret_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/secret"
)

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"https://example.org/a/b.zip", "https://example.org/a/b.zip"},
		{"https://example.org/@scope/b%20c", "https://example.org/@scope/b%20c"},
		{"http://proxy.example.org:8081/go/example.org/m/@v/list", "http://proxy.example.org:8081/go/example.org/m/@v/list"},
		{"http://[::1]:8081/example.org/m/@latest", "http://[::1]:8081/example.org/m/@latest"},
		{"http://user:s3cret@example.org:8081/m/@v/list", "http://***@example.org:8081/m/@v/list"},
		{"https://user:12/@v/s3cret@example.org/m/@v/list", "https://***"},
		{"weights", "weights"},
		{"https://user:s3cret@example.org/a", "https://***@example.org/a"},
		{"https://s3cret@example.org:8080/a", "https://***@example.org:8080/a"},
		{"https://s3cret:x-oauth-basic@example.org", "https://***@example.org"},
		{"https://:s3cret@[::1]:80/a", "https://***@[::1]:80/a"},
		{"https://u%40x:s3%2Fcret@example.org/a%2Fb", "https://***@example.org/a%2Fb"},
		{"https://example.org/a?token=s3cret", "https://example.org/a?***"},
		{"https://example.org/a?s3cret", "https://example.org/a?***"},
		{"https://example.org/a#access_token=s3cret", "https://example.org/a"},
		{"https://user:s3cret@example.org?a=s3cret#s3cret", "https://***@example.org?***"},
		{"//user:s3cret@example.org/a", "//***@example.org/a"},
		{"ssh://git:s3cret@example.org/a", "ssh://***@example.org/a"},
		{"git+https://user:s3cret@example.org/a.git", "git+https://***@example.org/a.git"},
		{"user:s3cret@example.org/a", "***"},
		{"https://user:s3cret%zz@example.org/a", "https://***"},
		{"https://user:s3/cret@example.org/a", "https://***"},
		{"https://user:12/s3cret@example.org/a", "https://***"},
		{"https://user:12#s3cret@example.org/a", "https://user:12"},
		{"https://user:s3 cret@example.org/a", "https://***"},
		{"%", "***"},
	} {
		if got := secret.Address(tt.address); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.address, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"no address, user@example.org:x", "no address, user@example.org:x"},
		{"reading https://user:s3cret@example.org/@v/list: 410 Gone", "reading https://***@example.org/@v/list: 410 Gone"},
		{"reading https://example.org/x?token=s3cret: 410 Gone.", "reading https://example.org/x?***: 410 Gone."},
		{"fatal: unable to access 'https://s3cret@example.org/a.git/': no host", "fatal: unable to access 'https://***@example.org/a.git/': no host"},
		{`Get "https://u:s3cret@a.org/x" and "http://u:s3cret@b.org/y" (https://c.org)`, `Get "https://***@a.org/x" and "http://***@b.org/y" (https://c.org)`},
		{`at 'https://u:s3'"cret@a.org/x'`, `at 'https://***'`},
		{`parse "https://u:s3/cret@a.org/x": invalid port`, `parse "https://***": invalid port`},
		{`parse "https://u:s3cret/x@a.org/x": invalid port ":s3cret" after host`, `parse "https://***": invalid port after host`},
		{"https://u:s3cret@a.org\nhttps://u:s3cret@b.org", "https://***@a.org\nhttps://***@b.org"},
	} {
		if got := secret.Text(tt.text); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestSource(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"x := y // https://example.org/a?b=c@d", "x := y // https://example.org/a?b=c@d"},
		{`Get("https://u:s3cret@a.org/?q=1", x)`, `Get("https://********@a.org/?q=1", x)`},
		{"%get https://s3cret@a.org and ssh://git@b.org", "%get https://******@a.org and ssh://***@b.org"},
		{`f("https://a.org", "x@y")`, `f("https://a.org", "x@y")`},
	} {
		if got := secret.Source(tt.line); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestError hides a password at each depth of wrapped errors.
func TestError(t *testing.T) {
	const address = "https://user:s3cret@example.org/x?token=s3cret"
	plain := fmt.Errorf("no such file: %w", fs.ErrNotExist)
	if got := secret.Error(plain); got != plain {
		t.Errorf("got %v, want the error itself", got)
	}
	if secret.Error(nil) != nil {
		t.Error("nil is an error")
	}
	request := &url.Error{Op: "Get", URL: address, Err: context.Canceled}
	located := &url.Error{Op: "Get", URL: address, Err: fmt.Errorf("failed to parse Location header %q: %w", address, context.Canceled)}
	relative := &url.Error{Op: "Get", URL: "?token=s3cret", Err: context.Canceled}
	for _, err := range []error{request, located, relative, fmt.Errorf("try again: %w", relative), fmt.Errorf("%s: %w", address, context.Canceled), fmt.Errorf("try again: %w", request), errors.Join(located, request)} {
		got := secret.Error(err)
		if !errors.Is(got, context.Canceled) || errors.Is(got, fs.ErrNotExist) {
			t.Errorf("%v wraps something else", got)
		}
		var e *url.Error
		if errors.As(got, &e) != errors.As(err, new(*url.Error)) {
			t.Errorf("%v: As differs", got)
		}
		chain := []error{got}
		if e != nil {
			chain = append(chain, e, e.Err)
		}
		for ; got != nil; got = errors.Unwrap(got) {
			chain = append(chain, got)
		}
		for _, e := range chain {
			for _, text := range []string{e.Error(), fmt.Sprintf("%+v", e)} {
				if strings.Contains(text, "s3cret") {
					t.Errorf("%v: wraps %s", err, text)
				}
			}
		}
	}
}
