package submit

import (
	"slices"
	"strconv"
)

// The folder of a pod in which the notebook is mounted.
const mount = "/quern"

// objectsOf are the objects of every job on Kubernetes: the notebook and the secret.
func (j *Job) objectsOf(job object, more ...object) []object {
	return append(append([]object{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": j.Name + "-notebook"}, "data": object{"notebook.ipynb": string(j.Text)}},
		{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": j.Name + "-secret"}, "stringData": object{"secret": j.Secret}},
	}, more...), job)
}

// metadata of the job. Kueue admits a job with its label when the queue has room for all of its pods.
func (j *Job) metadata() object {
	m := object{"name": j.Name}
	if j.Queue != "" && !j.Gang {
		m["labels"] = object{"kueue.x-k8s.io/queue-name": j.Queue}
	}
	return m
}

// podCommand returns the command of a rank in a pod. It copies the notebook out of the ConfigMap, whose folder is read-only: cells run
// in the folder of the notebook, and may write files.
func (j *Job) podCommand() list {
	c := list{"sh", "-c", `mkdir -p /tmp/quern && cd /tmp/quern && cp ` + mount + `/notebook.ipynb . && exec "$@"`, "sh"}
	for _, word := range j.command("notebook.ipynb", "--log-notebook") {
		c = append(c, word)
	}
	return c
}

func (j *Job) secretVariable() object {
	return object{"name": "QUERN_PARALLEL_SECRET", "valueFrom": object{"secretKeyRef": object{"name": j.Name + "-secret", "key": "secret"}}}
}

func (j *Job) volumes() list {
	return list{object{"name": "notebook", "configMap": object{"name": j.Name + "-notebook"}}}
}

var volumeMounts = list{object{"name": "notebook", "mountPath": mount}}

// resources are those of a rank.
func (j *Job) resources() object {
	if j.GPUs == 0 {
		return object{}
	}
	return object{"limits": object{"nvidia.com/gpu": j.GPUs}}
}

// podTemplate is a pod with one container. With Gang, Volcano schedules all pods of the group or none.
func (j *Job) podTemplate(container object) object {
	container["image"], container["volumeMounts"] = j.Image, volumeMounts
	t := object{"spec": object{"restartPolicy": "Never", "containers": list{container}, "volumes": j.volumes()}}
	if j.Gang {
		t["metadata"] = object{"annotations": object{"scheduling.k8s.io/group-name": j.Name}}
		t["spec"].(object)["schedulerName"] = "volcano"
	}
	return t
}

// podGroup is Volcano's group of pods, if the job needs one.
func (j *Job) podGroup(members int) []object {
	if !j.Gang {
		return nil
	}
	spec := object{"minMember": members}
	if j.Queue != "" {
		spec["queue"] = j.Queue
	}
	return []object{{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": object{"name": j.Name}, "spec": spec}}
}

// trainJob is for Kubeflow Trainer 2.2 or later. Its torch policy sets PET_NNODES, PET_NODE_RANK and PET_MASTER_ADDR, which
// accel/parallel reads. What a runtime defines, such as gang scheduling and restarts, is the runtime's.
func trainJob(j *Job) []object {
	trainer := object{
		"image": j.Image, "command": j.podCommand(), "env": list{j.secretVariable()},
		"numNodes": j.Ranks, "numProcPerNode": 1,
	}
	if j.GPUs > 0 {
		trainer["resourcesPerNode"] = j.resources()
	}
	pod := object{"spec": object{
		"volumes":    j.volumes(),
		"containers": list{object{"name": "node", "volumeMounts": volumeMounts}},
	}}
	patch := object{"manager": "quernlab.github.io/submit", "trainingRuntimeSpec": object{"template": object{"spec": object{"replicatedJobs": list{
		object{"name": "node", "template": object{"spec": object{"template": pod}}},
	}}}}}
	return j.objectsOf(object{
		"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": j.metadata(),
		"spec": object{"runtimeRef": object{"name": j.Runtime}, "trainer": trainer, "runtimePatches": list{patch}},
	})
}

// jobSet is a set with one Indexed Job, whose pods get their ranks from their index. JobSet gives each pod a host name, and
// restarts all pods if one is lost.
func jobSet(j *Job) []object {
	index := object{"fieldRef": object{"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
	pod := j.podTemplate(object{
		"name": "rank", "command": j.podCommand(), "resources": j.resources(),
		"env": list{
			object{"name": "RANK", "valueFrom": index},
			object{"name": "WORLD_SIZE", "value": strconv.Itoa(j.Ranks)},
			object{"name": "MASTER_ADDR", "value": j.Name + "-ranks-0-0." + j.Name},
			object{"name": "MASTER_PORT", "value": "29500"},
			j.secretVariable(),
		},
	})
	job := object{"spec": object{"completionMode": "Indexed", "completions": j.Ranks, "parallelism": j.Ranks, "backoffLimit": 0, "template": pod}}
	return j.objectsOf(object{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": j.metadata(),
		"spec": object{
			"failurePolicy":  object{"maxRestarts": j.Restarts},
			"network":        object{"enableDNSHostnames": true, "publishNotReadyAddresses": true},
			"replicatedJobs": list{object{"name": "ranks", "replicas": 1, "template": job}},
		},
	}, j.podGroup(j.Ranks)...)
}

// The user of the images of the MPI Operator, as which sshd and mpirun run.
const mpiUser, mpiHome = 1000, "/home/mpiuser"

// mpiJob is a launcher, which runs mpirun, and a worker for each rank, which runs sshd, as in the images of the MPI Operator.
// mpirun passes variables on only if -x names them.
func mpiJob(j *Job) []object {
	command := list{"mpirun", "-n", strconv.Itoa(j.Ranks), "-x", "QUERN_PARALLEL_SECRET", "-x", "MASTER_ADDR"}
	launcher := j.podTemplate(object{
		"name": "launcher", "command": slices.Concat(command, j.podCommand()),
		"env":             list{object{"name": "MASTER_ADDR", "value": j.Name + "-worker-0." + j.Name}, j.secretVariable()},
		"securityContext": object{"runAsUser": mpiUser},
	})
	worker := j.podTemplate(object{
		"name": "worker", "command": list{"/usr/sbin/sshd", "-De", "-f", mpiHome + "/.sshd_config"}, "resources": j.resources(),
		"securityContext": object{"runAsUser": mpiUser},
	})
	return j.objectsOf(object{
		"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": j.metadata(),
		"spec": object{
			"slotsPerWorker": 1, "sshAuthMountPath": mpiHome + "/.ssh", "launcherCreationPolicy": "WaitForWorkersReady",
			"runPolicy": object{"cleanPodPolicy": "Running", "backoffLimit": j.Restarts},
			"mpiReplicaSpecs": object{
				"Launcher": object{"replicas": 1, "restartPolicy": "Never", "template": launcher},
				"Worker":   object{"replicas": j.Ranks, "restartPolicy": "Never", "template": worker},
			},
		},
	}, j.podGroup(j.Ranks+1)...)
}
