package parallel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/mpi"
	"github.com/quernlab/quern/internal/testenv"
)

// mpiProgram is the variable with what a rank of mpirun does, in TestMPIRank.
const mpiProgram = "QUERN_TEST_MPI_PROGRAM"

// mpiPrograms are what ranks do. A program returns what the rank prints.
var mpiPrograms = map[string]func(ctx context.Context, ring, g *Group) (string, error){
	"sums":     mpiSums,
	"measured": mpiMeasured,
	// The last rank gives up while the others wait for it in MPI_Allreduce.
	"failing": func(ctx context.Context, _, g *Group) (string, error) {
		if g.Rank() == g.Size()-1 {
			g.Fail(errors.New("wanted"))
			return "gave up", nil
		}
		return lostIn(g.AllReduce(ctx, make([]float32, 100_000), Sum))
	},
	// The last rank closes its group, and the others do not.
	"leaving": func(ctx context.Context, _, g *Group) (string, error) {
		if g.Rank() == g.Size()-1 {
			return "left", g.Close()
		}
		return lostIn(g.AllReduce(ctx, make([]float32, 100_000), Sum))
	},
	// One rank sums other values.
	"differing": func(ctx context.Context, _, g *Group) (string, error) {
		err := g.AllReduce(ctx, make([]float32, 100_000+g.Rank()/(g.Size()-1)), Sum)
		var mismatch *MismatchError
		if errors.As(err, &mismatch) {
			return "rejected", nil
		}
		_, err = lostIn(err) // of the rank that has found the difference
		return "rejected", err
	},
}

// lostIn returns what a rank prints that has lost another one.
func lostIn(err error) (string, error) {
	var lost *LostError
	if errors.As(err, &lost) {
		return "lost", nil
	}
	return "", fmt.Errorf("got %w, want a LostError", err)
}

// mpiSums compares sums of MPI with those of the ring.
func mpiSums(ctx context.Context, ring, g *Group) (string, error) {
	for _, n := range []int{1, 1023, 1024, 5000, 300_001} {
		for _, how := range []Reduction{Sum, Mean} {
			want, got := make([]float32, n), make([]float32, n)
			wide := make([]float64, n)
			for i := range want {
				want[i] = float32((i*7+g.Rank()*13)%101 - 50) // sums of integers are exact
				got[i], wide[i] = want[i], float64(want[i])
			}
			if err := errors.Join(ring.AllReduce(ctx, want, how), g.AllReduce(ctx, got, how), g.AllReduceFloat64(ctx, wide, how)); err != nil {
				return "", err
			}
			for i := range want {
				if got[i] != want[i] || how == Sum && wide[i] != float64(want[i]) {
					return "", fmt.Errorf("%v of %d values: value %d is %g, %g in float64, want %g", how, n, i, got[i], wide[i], want[i])
				}
			}
			for i := range got { // sums that are rounded are the same on all ranks
				got[i] = 1 / float32(i+1+g.Rank()*17)
			}
			if err := g.AllReduce(ctx, got, how); err != nil {
				return "", err
			}
			all, err := g.AllGather(ctx, bytesOf(got))
			if err != nil {
				return "", err
			}
			for rank, b := range all {
				if !slices.Equal(b, all[0]) {
					return "", fmt.Errorf("%v of %d values: those of rank %d differ from those of rank 0", how, n, rank)
				}
			}
		}
	}
	return "equal by " + g.mpi.world.Version, nil
}

// mpiMeasured measures AllReduce by the ring and by MPI.
func mpiMeasured(ctx context.Context, ring, g *Group) (string, error) {
	var table strings.Builder
	for _, size := range []int{1e3, 1e4, 1e5, 1e6, 1e7, 1e8} {
		values := make([]float32, size/4)
		best := [2]time.Duration{time.Hour, time.Hour}
		for range 7 { // interleaved
			for i, by := range []*Group{ring, g} {
				if err := by.Barrier(ctx); err != nil {
					return "", err
				}
				begin := time.Now()
				if err := by.AllReduce(ctx, values, Sum); err != nil {
					return "", err
				}
				best[i] = min(best[i], time.Since(begin))
			}
		}
		fmt.Fprintf(&table, "\n%d ranks, %9d bytes: ring %12v, MPI %12v", g.Size(), size, best[0], best[1])
	}
	return table.String(), nil
}

// TestMPIRank is one rank of mpirun.
func TestMPIRank(t *testing.T) {
	program, ok := mpiPrograms[os.Getenv(mpiProgram)]
	if !ok {
		return // it is started by startMPI
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	info, err := FromEnvironment(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	address := info.Address
	info.Address = os.Getenv("QUERN_TEST_MPI_RING")
	ring, err := Join(ctx, At(info))
	if err != nil {
		t.Fatal(err)
	}
	info.Address = address
	g, err := Join(ctx, At(info), MPI())
	if err != nil {
		t.Fatal(err)
	}
	if g.mpi.world == nil {
		t.Fatal(g.mpi.why)
	}
	if err := ring.Barrier(ctx); err != nil { // all have joined
		t.Fatal(err)
	}
	text, err := program(ctx, ring, g)
	fmt.Printf("rank %d: %s, %v\n", g.Rank(), text, err)
	if err := errors.Join(ring.Barrier(ctx), ring.Close(), g.Close()); err != nil { // mpirun ends the others if one ends without MPI_Finalize
		t.Error(err)
	}
}

// startMPI runs a program on n ranks of mpirun, and returns what they print.
func startMPI(t *testing.T, n int, program string) (text string, err error) {
	t.Helper()
	version, err := exec.Command("mpirun", "--version").Output()
	if err != nil || !strings.Contains(string(version), "Open MPI") {
		testenv.Optional(t, "mpirun of Open MPI is not installed; Debian: apt-get install openmpi-bin")
	}
	if _, err := mpi.Find(); errors.Is(err, mpi.ErrNone) {
		testenv.Optional(t, "%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", fmt.Sprint(n), self, "-test.run", "^TestMPIRank$", "-test.v")
	c.Env = append(os.Environ(), mpiProgram+"="+program, "QUERN_TEST_MPI_RING="+freeAddress(t), "MASTER_ADDR=127.0.0.1")
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestMPI(t *testing.T) {
	for _, c := range []struct {
		program string
		ranks   int
		want    []string // of each rank
		fails   bool     // mpirun reports processes that have not finalized MPI
	}{
		{program: "sums", ranks: 2, want: []string{"equal by Open MPI v"}},
		{program: "sums", ranks: 3, want: []string{"equal by Open MPI v"}},
		{program: "failing", ranks: 3, want: []string{"lost", "lost", "gave up"}, fails: true},
		{program: "leaving", ranks: 3, want: []string{"lost", "lost", "left"}, fails: true},
		{program: "differing", ranks: 2, want: []string{"rejected, <nil>"}, fails: true},
	} {
		t.Run(fmt.Sprintf("%s on %d", c.program, c.ranks), func(t *testing.T) {
			text, err := startMPI(t, c.ranks, c.program)
			if (err != nil) != c.fails {
				t.Errorf("mpirun: %v", err)
			}
			for rank := range c.ranks {
				if want := fmt.Sprintf("rank %d: %s", rank, c.want[min(rank, len(c.want)-1)]); !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
		})
	}
}

// TestMPIMeasured prints the table of docs/parallel.md.
func TestMPIMeasured(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("QUERN_LONG is not set")
	}
	for _, n := range []int{2, 4, 8} {
		text, err := startMPI(t, n, "measured")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		_, table, _ := strings.Cut(text, "rank 0: ")
		table, _, _ = strings.Cut(table, ", <nil>")
		t.Log(table)
	}
}

// TestMPIWithoutMpirun uses the ring.
func TestMPIWithoutMpirun(t *testing.T) {
	t.Setenv(mpi.Variable, "")
	all, err := Local(t.Context(), 2, MPI())
	if err != nil {
		t.Fatal(err)
	}
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		values := make([]float32, 5000)
		values[4999] = float32(g.Rank() + 1)
		if err := g.AllReduce(ctx, values, Sum); err != nil {
			return err
		}
		if values[4999] != 3 {
			return fmt.Errorf("the sum is %g", values[4999])
		}
		if err := g.joinDevices(ctx); err != nil {
			return err
		}
		if want := "the hosts, since rank 0 reports: "; !strings.HasPrefix(g.Backend(), want) {
			return fmt.Errorf("the backend is %q, want %q", g.Backend(), want)
		}
		return nil
	})
}
