package data_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	_ "github.com/quernlab/quern/accel/simulated"
)

// photos writes a folder of two classes with 12 images each, below the folder of the test, since a
// temporary folder may be in memory.
func photos(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp(".", "photos-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	random := rand.New(rand.NewPCG(1, 1))
	for k := range 24 {
		picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for i := range picture.Pix {
			picture.Pix[i] = byte(random.Uint32()) | byte(i%4/3*255)
		}
		class := filepath.Join(folder, []string{"a", "b"}[k%2])
		if err := os.MkdirAll(class, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(class, fmt.Sprintf("%d.png", k)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, picture), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func bench(t *testing.T, set *data.Dataset, options ...data.Option) *data.BenchReport {
	t.Helper()
	r, err := data.Bench(t.Context(), set, 8, options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A slow transform limits, and several workers share it.
func TestBenchReport(t *testing.T) {
	set, err := data.OpenImages(photos(t), 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	mapped, err := set.Map(data.Lambda("count", func([]float32, []int, *rand.Rand) { calls.Add(1) }))
	if err != nil {
		t.Fatal(err)
	}
	r := bench(t, mapped, data.Shuffle(1), data.Workers(2))
	warm, ok := r.Row(data.BenchWarm)
	plain, without := r.Row(data.BenchPlain)
	if !ok || warm.Workers != 2 || warm.Batches != 2 || !without || plain.Workers != 2 || !strings.Contains(r.Limit, "with 2 workers") {
		t.Errorf("%+v\n%+v\n%v", warm, plain, r)
	}
	if n := calls.Load(); n == 0 || n%24 != 0 { // whole passes
		t.Errorf("the transform was called %d times", n)
	}
	if text := r.String(); !strings.Contains(text, "MB/s") || !strings.Contains(text, "copy to the device, from pinned memory") {
		t.Error(text)
	}
	if page, _ := r.Report().MIMEBundle()["text/html"].(string); !strings.Contains(page, "<table") {
		t.Error(page)
	}
}

// Files leave the page cache on Linux, also those that are mapped; a row without times says why.
func TestBenchDropsFiles(t *testing.T) {
	images, err := data.OpenImages(photos(t), 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(filepath.Dir(images.Path(0)))
	pixels, labels := filepath.Join(folder, "images"), filepath.Join(folder, "labels")
	const count, side = 64, 64
	header := []byte{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side}
	if err := errors.Join(os.WriteFile(pixels, append(header, make([]byte, count*side*side)...), 0o600),
		os.WriteFile(labels, append([]byte{0, 0, 8, 1, 0, 0, 0, count}, make([]byte, count)...), 0o600)); err != nil {
		t.Fatal(err)
	}
	mapped, err := data.OpenIDX(pixels, labels)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := data.Concat(mapped, mapped.First(8))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*data.Dataset{images, images.Shuffled(1), mapped, joined} {
		for range 2 { // the second time the pages are mapped
			r := bench(t, set)
			for _, row := range r.Rows {
				if row.What != data.BenchCold {
					continue
				}
				// A file system in memory cannot drop pages.
				said := row.Reason != "" && row.Seconds == 0 && strings.Contains(row.Reason, "page cache")
				if measured := row.Reason == "" && row.Seconds > 0; !said && (!measured || runtime.GOOS != "linux") {
					t.Errorf("%v: %+v", set, row)
				} else if said && runtime.GOOS == "linux" {
					t.Logf("%v: %s", set, row.Reason)
				}
			}
		}
	}
}

// What cannot be measured has a reason.
func TestBenchReasons(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	images, err := data.OpenImages(photos(t), 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	cached, err := images.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	resident, err := train.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	both, err := data.Inputs(train, train)
	if err != nil {
		t.Fatal(err)
	}
	custom, err := data.FromSource(&squares{n: 10}, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set          *data.Dataset
		cold, copied string
	}{
		{train, "in memory", "the CPU uses"},
		{both, "in memory", "the CPU uses"},
		{cached, "before Cached", "the CPU uses"},
		{resident, "on the device", "on the device"},
		{custom, "Path(i int)", "the CPU uses"},
	} {
		for _, row := range bench(t, c.set, data.Workers(1)).Rows {
			want := map[data.BenchStage]string{data.BenchCold: c.cold, data.BenchPinned: c.copied, data.BenchPageable: c.copied}[row.What]
			if want == "" && row.Reason != "" || !strings.Contains(row.Reason, want) || want != "" && row.Seconds != 0 {
				t.Errorf("%v: %+v", c.set, row)
			}
		}
	}
}

// On a GPU, here a simulated one, both copies are measured.
func TestBenchOnGPU(t *testing.T) {
	before := tensors.Device()
	if err := tensors.SetDevice("simulated"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice(before); err != nil {
			t.Error(err)
		}
	}()
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	r := bench(t, train)
	for _, what := range []data.BenchStage{data.BenchPinned, data.BenchPageable} {
		if row, ok := r.Row(what); !ok || row.Seconds <= 0 || row.Bytes <= 0 || row.Examples <= 0 {
			t.Errorf("%s: %+v", what, row)
		}
	}
}

func TestBenchErrors(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	empty, err := train.Subset(nil)
	if err != nil {
		t.Fatal(err)
	}
	broken, err := data.OpenImages(photos(t), 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken.Path(3), []byte("no image"), 0o600); err != nil {
		t.Fatal(err)
	}
	var example *data.ExampleError
	for name, c := range map[string]struct {
		ctx     context.Context
		set     *data.Dataset
		size    int
		options []data.Option
		is      func(error) bool
	}{
		"nil":       {t.Context(), nil, 1, nil, func(err error) bool { return err != nil }},
		"empty":     {t.Context(), empty, 1, nil, func(err error) bool { return strings.Contains(err.Error(), "no batch") }},
		"size":      {t.Context(), train, 0, nil, func(err error) bool { return errors.Is(err, data.ErrBatchSize) }},
		"cancelled": {done, train, 8, nil, func(err error) bool { return errors.Is(err, context.Canceled) }},
		"shard":     {t.Context(), train, 8, []data.Option{data.Shard(2, 1)}, func(err error) bool { return err != nil }},
		"example":   {t.Context(), broken, 8, nil, func(err error) bool { return errors.As(err, &example) && example.Example == 3 }},
		"nothing":   {t.Context(), train, 8, []data.Option{data.Skip(1 << 40)}, func(err error) bool { return strings.Contains(err.Error(), "no batch") }},
	} {
		if r, err := data.Bench(c.ctx, c.set, c.size, c.options...); err == nil || r != nil || !c.is(err) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// Which times are measured depends on the machine.
func ExampleBench() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := data.Bench(context.Background(), train, 64, data.Shuffle(1), data.Workers(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range report.Rows {
		if row.Reason != "" {
			fmt.Println(row.What, "is not measured:", row.Reason)
			continue
		}
		fmt.Println(row.What, "with", row.Workers, "workers:", row.Seconds > 0)
	}
	// Output:
	// batches, files not in memory is not measured: the examples are in memory
	// batches, files in memory with 1 workers: true
	// batches, files not in memory is not measured: the examples are in memory
	// batches, files in memory with 2 workers: true
	// copy to the device, from pinned memory is not measured: the CPU uses batches where they are
	// copy to the device, from pageable memory is not measured: the CPU uses batches where they are
}
