package parallel

import (
	"net"
	"strings"
)

// torchrun sets the variables of PyTorch's env:// rendezvous, and so do Kubeflow's PyTorchJob
// and users who start ranks by hand.
//
// If TORCHELASTIC_USE_AGENT_STORE is set, torchrun itself listens at MASTER_ADDR:MASTER_PORT:
// rank 0 then listens elsewhere and publishes its address in torchrun's store.
var torchrun = launcher{
	name:      "torchrun",
	variables: []string{"RANK", "WORLD_SIZE"},
	read: func(v *variables) (RankInfo, error) {
		p, err := v.readRank(names{
			rank: []string{"RANK"}, size: []string{"WORLD_SIZE"},
			localRank: []string{"LOCAL_RANK"}, localSize: []string{"LOCAL_WORLD_SIZE"},
		})
		if err != nil {
			return p, err
		}
		if p.Size > 1 {
			for _, name := range []string{"MASTER_ADDR", "MASTER_PORT"} {
				if v.text(name) == "" {
					return p, &EnvironmentError{Launcher: v.launcher, Hint: name + " is not set; set it to where rank 0 listens, the same for all ranks"}
				}
			}
		}
		if p.LocalSize > 0 && p.LocalRank < 0 {
			return p, &EnvironmentError{Launcher: v.launcher, Hint: "LOCAL_RANK is not set, but LOCAL_WORLD_SIZE is"}
		}
		if p.Address, err = v.address("", DefaultPort); err != nil {
			return p, err
		}
		p.Run = v.text("TORCHELASTIC_RUN_ID")
		if strings.EqualFold(v.text("TORCHELASTIC_USE_AGENT_STORE"), "true") && p.Address != "" {
			p.Run += "/" + v.text("TORCHELASTIC_RESTART_COUNT")
			host, _, err := net.SplitHostPort(p.Address)
			if err != nil {
				return p, &EnvironmentError{Launcher: v.launcher, Hint: err.Error()}
			}
			p.store, p.Address = p.Address, net.JoinHostPort(host, "0")
		}
		return p, nil
	},
}
