package early

// maxArguments is larger than the arguments of a kernel, in bytes.
const maxArguments = 1 << 12

// arguments returns os.Args without importing os.
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
