//go:build failpoints

package seen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/failpoint/failpointtest"
	"github.com/quernlab/quern/kernel/wire"
)

// TestFailpoints makes a kernel read the signatures in a file that is too long and
// truncated, and add one, while an operation fails. No earlier signature is lost.
func TestFailpoints(t *testing.T) { testFailpoints(t, "seen") }

func TestFailpointsOfFile(t *testing.T) { testFailpoints(t, "file") }

// errNotRead reports that signatures in the file were not read.
var errNotRead = errors.New("the earlier signatures were not read")

func testFailpoints(t *testing.T, owner string) {
	const earlier = 2*maxPast + 1
	session := func(folder string, added ...wire.Signature) (past []wire.Signature, err error) {
		var mu sync.Mutex
		l := Open(folder, []byte("key"), func(e error) {
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, e)
		})
		l.timeout = time.Minute
		past = slices.Clone(l.Past())
		for _, s := range added {
			l.Add(s)
		}
		l.Close()
		<-l.done
		mu.Lock()
		defer mu.Unlock()
		return past, err
	}
	attempted, after := signature(earlier), signature(earlier+1)
	failpointtest.Run(t, owner, failpointtest.Scenario{
		Before: func(folder string) error {
			var text []byte
			for i := range earlier {
				s := signature(i)
				text = append(text, s[:]...)
			}
			return errors.Join(os.WriteFile(filepath.Join(folder, name([]byte("key"))), append(text, "cut"...), 0o600),
				os.WriteFile(filepath.Join(folder, ".save-1"), nil, 0o600))
		},
		Attempt: func(folder string) error {
			past, err := session(folder, attempted)
			if len(past) < maxPast && !strings.Contains(fmt.Sprint(err), string(failpoint.SeenOpen)) {
				return errors.Join(err, errNotRead)
			}
			return err
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if strings.Contains(o.Error, errNotRead.Error()) {
				t.Error(o.Error)
			}
			past, err := session(folder, after)
			if err != nil {
				t.Fatal(err)
			}
			kept := slices.Contains(past, attempted)
			if !kept && !o.Killed && o.Error == "" {
				t.Error("the signature is lost without an error")
			}
			if kept {
				past = past[:len(past)-1]
			}
			if len(past) < maxPast-1 {
				t.Fatalf("%d signatures are left", len(past))
			}
			for i, s := range past {
				if want := signature(earlier - len(past) + i); s != want {
					t.Fatalf("signature %d is %x, want %x", i, s[:8], want[:8])
				}
			}
			if past, err = session(folder); err != nil || past[len(past)-1] != after {
				t.Errorf("the signature after that is lost: %v", err)
			}
			if left := failpointtest.Left(t, folder, ".save-*"); len(left) > 0 && o.Point != failpoint.FileClean {
				t.Errorf("left behind: %q", left)
			}
		},
	})
}
