package early

// maxFile is larger than any connection file, in bytes.
const maxFile = 1 << 20

// bound has the sockets that init has bound and that Take has not returned.
var bound sockets

func init() {
	if a := arguments(); len(a) == 4 && a[1] == "kernel" && a[2] == "-f" {
		bound = listen(a[3])
	}
}

// listen binds the ports of a connection file, all of them or none.
func listen(path string) (none sockets) {
	text, ok := read(path)
	if !ok {
		return none
	}
	strings, numbers, ok := fields(text)
	if transport, named := strings["transport"]; !ok || named && transport != "tcp" {
		return none
	}
	ip, ok := address(strings["ip"])
	if !ok {
		return none
	}
	all := sockets{}
	// Shell is last, so a client that reaches it can reach the others.
	for _, name := range []string{"iopub_port", "hb_port", "stdin_port", "control_port", "shell_port"} {
		if port := numbers[name]; port < 1 || port > 65535 || !all.bind(ip, port) {
			all.close()
			return none
		}
	}
	return all
}

// address parses an IPv4 address of this machine. It rejects 0.0.0.0, for which package
// net listens on IPv6 too.
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
