package kernel

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// FuzzRequests sends arbitrary content with each type of request. The kernel must publish
// busy, send the reply of this type, publish idle, and serve the next request.
func FuzzRequests(f *testing.F) {
	var types []string
	for typ := range specified {
		if typ != wire.ShutdownRequest { // it ends the kernel
			types = append(types, string(typ))
		}
	}
	types = append(types, "dance_request")
	slices.Sort(types)
	seeds := []string{
		`{"code":"x","silent":false,"user_expressions":{"a":"b"}}`,
		`{"code":"𝛼.fmt","cursor_pos":3,"detail_level":1}`,
		`{"code":"x","cursor_pos":-1}`,
		`{"hist_access_type":"search","pattern":"*","n":3,"unique":true}`,
		`{"hist_access_type":"range","session":-1,"start":2,"stop":null}`,
		`{"comm_id":"1","target_name":"jupyter.widget","data":{"state":{}}}`,
		`{"code":["x"],"cursor_pos":"1","data":[],"comm_id":null}`,
		`{"restart":true}`,
		`{}`,
		`[]`,
	}
	for i := range types {
		for _, seed := range seeds {
			f.Add(i, seed, i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, typ int, content string, onControl bool) {
		if !json.Valid([]byte(content)) {
			return // not JSON, so the codec cannot encode it; see FuzzDecode in package wire
		}
		c := newClient(t)
		requestType := wire.Type(types[uint(typ)%uint(len(types))])
		channel := transport.Shell
		if onControl {
			channel = transport.Control
		}
		id := c.send(channel, requestType, content)
		if strings.HasPrefix(strings.TrimSpace(content), "{") {
			c.untilIdle(id)
			if reply := table[requestType].reply; reply != "" {
				if text := c.reply(channel, id); !strings.HasPrefix(text, string(reply)+` {"status":"`) && reply != wire.IsCompleteReply {
					t.Errorf("%s %s: %s", requestType, content, text)
				}
			}
		}
		c.quiet()
	})
}
