package gpu

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"
)

func TestContainer(t *testing.T) {
	tests := []struct {
		name             string
		files            map[string]string
		cores, memory    float64
		cpuTime, memory2 float64
	}{
		{"none", nil, 0, 0, math.NaN(), math.NaN()},
		{"version 2", map[string]string{
			"proc/self/cgroup":                 "0::/",
			"sys/fs/cgroup/cgroup.controllers": "cpu memory",
			"sys/fs/cgroup/cpu.max":            "150000 100000",
			"sys/fs/cgroup/memory.max":         "2147483648",
			"sys/fs/cgroup/memory.current":     "1000",
			"sys/fs/cgroup/memory.stat":        "anon 1\ninactive_file 400\n",
			"sys/fs/cgroup/cpu.stat":           "usage_usec 2500000\nuser_usec 1\n",
		}, 1.5, 1 << 31, 2.5, 600},
		{"version 2, limits above", map[string]string{
			"proc/self/cgroup":                            "0::/user.slice/job",
			"sys/fs/cgroup/cgroup.controllers":            "cpu memory",
			"sys/fs/cgroup/user.slice/cpu.max":            "400000 100000",
			"sys/fs/cgroup/user.slice/job/cpu.max":        "max 100000",
			"sys/fs/cgroup/user.slice/job/memory.max":     "max",
			"sys/fs/cgroup/user.slice/memory.max":         "4096",
			"sys/fs/cgroup/user.slice/job/cpu.stat":       "usage_usec 1000000",
			"sys/fs/cgroup/user.slice/job/memory.current": "10",
		}, 4, 4096, 1, 10},
		{"version 2, path of another view", map[string]string{
			"proc/self/cgroup":                 "0::/../elsewhere",
			"sys/fs/cgroup/cgroup.controllers": "cpu",
			"sys/fs/cgroup/cpu.max":            "200000 100000",
		}, 2, 0, math.NaN(), math.NaN()},
		{"version 1", map[string]string{
			"proc/self/cgroup":                             "4:memory:/m\n2:cpu,cpuacct:/c\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us":         "50000",
			"sys/fs/cgroup/cpu/c/cpu.cfs_period_us":        "100000",
			"sys/fs/cgroup/cpu/c/cpuacct.usage":            "3000000000",
			"sys/fs/cgroup/memory/m/memory.limit_in_bytes": "1048576",
			"sys/fs/cgroup/memory/m/memory.usage_in_bytes": "5000",
			"sys/fs/cgroup/memory/m/memory.stat":           "total_inactive_file 1000",
		}, .5, 1 << 20, 3, 4000},
		{"version 1 without limits", map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n1:cpu:/\n2:cpuacct:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":         "-1",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":        "100000",
			"sys/fs/cgroup/cpuacct/cpuacct.usage":        "1000000000",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "5000",
		}, 0, 0, 1, 5000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range tt.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			c := readContainer(files)
			got := fmt.Sprint(c.cores, c.memory, c.cpuTime(), c.memoryUsed())
			want := fmt.Sprint(tt.cores, tt.memory, tt.cpuTime, tt.memory2)
			if got != want {
				t.Errorf("cores, memory, processor time, memory used\n want %s\n got  %s", want, got)
			}
		})
	}
}
