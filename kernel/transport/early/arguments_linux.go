package early

// maxArguments is more than the arguments of a kernel have, in bytes.
const maxArguments = 1 << 12

// arguments are os.Args, without package os.
func arguments() (list []string) {
	text, _ := content("/proc/self/cmdline", maxArguments)
	start := 0
	for i, c := range text {
		if c == 0 {
			list = append(list, string(text[start:i]))
			start = i + 1
		}
	}
	return list
}
