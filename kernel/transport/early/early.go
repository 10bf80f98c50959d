package early

import (
	"encoding/json"
	"os"
)

// connection is what matters here of a connection file.
type connection struct {
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Shell     int    `json:"shell_port"`
	Control   int    `json:"control_port"`
	Stdin     int    `json:"stdin_port"`
	IOPub     int    `json:"iopub_port"`
	Heartbeat int    `json:"hb_port"`
}

// maxFile is more than any connection file has, in bytes.
const maxFile = 1 << 20

// bound are the sockets that init has bound, and that nobody has taken.
var bound sockets

func init() {
	if len(os.Args) == 4 && os.Args[1] == "kernel" && os.Args[2] == "-f" {
		bound = listen(os.Args[3])
	}
}

// listen binds the ports of a connection file, all of them or none.
func listen(path string) (none sockets) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return none
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return none
	}
	c := connection{Transport: "tcp"}
	if json.Unmarshal(text, &c) != nil || c.Transport != "tcp" {
		return none
	}
	ip, ok := address(c.IP)
	if !ok {
		return none
	}
	all := sockets{}
	// Shell is last: whoever reaches it has reached the others.
	for _, port := range []int{c.IOPub, c.Heartbeat, c.Stdin, c.Control, c.Shell} {
		if port < 1 || port > 65535 || !all.bind(ip, port) {
			all.close()
			return none
		}
	}
	return all
}

// address reads an IPv4 address that is one of this machine's, and not all of them: for
// those, package net binds IPv6 too.
func address(text string) (ip [4]byte, ok bool) {
	at, digits := 0, 0
	value := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '.' {
			if digits == 0 || at == len(ip) {
				return ip, false
			}
			ip[at] = byte(value)
			at, digits, value = at+1, 0, 0
			continue
		}
		c := text[i]
		if c < '0' || c > '9' || digits > 0 && value == 0 {
			return ip, false
		}
		if value, digits = 10*value+int(c-'0'), digits+1; value > 255 {
			return ip, false
		}
	}
	return ip, at == len(ip) && ip != [4]byte{}
}
