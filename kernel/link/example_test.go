package link_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"

	"github.com/quernlab/quern/kernel/link"
)

// Two ends of one stream. Each serves what the other sends.
func Example() {
	ctx := context.Background()
	left, right := net.Pipe()
	a, b := link.NewConn(left), link.NewConn(right)
	shout := func(_ context.Context, _ string, body json.RawMessage) (any, error) {
		var text string
		err := json.Unmarshal(body, &text)
		return strings.ToUpper(text), err
	}
	ignore := func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }
	go link.Serve(ctx, a, link.HandlerFunc(ignore))
	go link.Serve(ctx, b, link.HandlerFunc(shout))
	defer a.Close()

	var answer string
	err := a.Call(ctx, "shout", "hello", &answer)
	fmt.Println(answer, err)
	// Output: HELLO <nil>
}
