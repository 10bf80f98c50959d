// Package secret hides credentials of addresses in what is shown or stored: users and passwords before the host, and
// queries and fragments, which often have tokens.
package secret

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Address returns an address with *** instead of the user, who may be a token, and of the query, without the fragment.
// Of an address that is no URL it returns the scheme only, since a password with special characters may be anywhere in it.
func Address(address string) string {
	u, err := url.Parse(address)
	scheme, _, found := strings.Cut(address, "://")
	switch {
	case err != nil && found && !strings.ContainsAny(scheme, "/?#@"):
		return scheme + "://***"
	case err != nil:
		return "***"
	case u.Opaque != "" && strings.Contains(u.Opaque, "@"): // user:password@host/path
		return "***"
	case u.Port() != "" && strings.Contains(ofModule.Replace(u.Path), "@"): // https://user:12/34@host/path
		return u.Scheme + "://***"
	case u.User == nil && u.RawQuery == "" && u.Fragment == "":
		return address
	}
	shown := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	text := shown.String()
	if u.User != nil {
		text = strings.Replace(text, "//", "//***@", 1)
	}
	if u.RawQuery != "" {
		text += "?***"
	}
	return text
}

// ofModule removes what the paths of a module proxy have an at sign in.
var ofModule = strings.NewReplacer("/@v/", "/", "/@latest", "/")

// addresses finds URLs in a text. A user and a password may contain quotation marks.
var addresses = regexp.MustCompile("[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^\\s/?#@]*@)?[^\\s\"'`<>]*")

// invalidPart finds the part of an address that net/url reports as invalid.
var invalidPart = regexp.MustCompile(`(invalid port|invalid URL escape) "[^"]*"`)

// Text returns a text with each URL in it as [Address] shows it.
func Text(text string) string {
	text = invalidPart.ReplaceAllString(text, "$1")
	return addresses.ReplaceAllStringFunc(text, func(address string) string {
		end := len(strings.TrimRight(address, ".,:;)]}\\")) // of a sentence
		return Address(address[:end]) + address[end:]
	})
}

// users finds the users and passwords of URLs in source code.
var users = regexp.MustCompile("://[^\\s/?#@\"`]+@")

// Source returns a line of source code with asterisks for the user and password of each URL in it. Columns stay the same.
func Source(line string) string {
	return users.ReplaceAllStringFunc(line, func(user string) string {
		return "://" + strings.Repeat("*", len(user)-len("://@")) + "@"
	})
}

// Error returns an error whose text, and that of what it wraps, is as [Text] shows it. The error itself is returned if
// that makes no difference. Otherwise errors.Is still finds what it wraps, and errors.As a [*url.Error].
func Error(err error) error {
	if err == nil {
		return nil
	}
	text := Text(err.Error())
	var request *url.Error
	if errors.As(err, &request) { // its address may be relative
		text = strings.ReplaceAll(text, request.URL, Address(request.URL))
	}
	if text == err.Error() {
		return err
	}
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // what wraps one is replaced as a whole
		return &url.Error{Op: e.Op, URL: Address(e.URL), Err: Error(e.Err)}
	}
	return &hidden{text, err}
}

// hidden is an error whose text has credentials.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }

// Is reports what err is. There is no Unwrap, which would give its text away.
func (h *hidden) Is(target error) bool { return errors.Is(h.err, target) }

// As finds the error of a request.
func (h *hidden) As(target any) bool {
	to, ok := target.(**url.Error)
	if ok && errors.As(h.err, to) {
		*to = &url.Error{Op: (*to).Op, URL: Address((*to).URL), Err: Error((*to).Err)}
		return true
	}
	return false
}
