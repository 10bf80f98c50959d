//go:build !amd64 || purego

package cpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// detectCaches reads what the kernel publishes (Documentation/ABI/testing/sysfs-devices-system-cpu). Of a CPU with several kinds of
// cores, that is one of them.
func detectCaches() Caches {
	var found Caches
	for i := range 8 {
		read := func(name string) string {
			text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(text))
		}
		if kind := read("type"); kind != "Data" && kind != "Unified" {
			continue
		}
		kilobytes, _ := strconv.Atoi(strings.TrimSuffix(read("size"), "K")) // 0: unknown
		ways, _ := strconv.Atoi(read("ways_of_associativity"))
		level, _ := strconv.Atoi(read("level"))
		found.set(level, Cache{Size: kilobytes << 10, Ways: ways})
	}
	return found
}
