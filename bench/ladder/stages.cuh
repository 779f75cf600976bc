/*
 * The time of each of several kernels. The work is captured as a graph, and its nodes are run again
 * one by one, in order.
 */
#ifndef GPUHIST_STAGES_CUH
#define GPUHIST_STAGES_CUH

#include "ladder.cuh"

/* The "split" of a mangled name that contains histogram_split_kernel. */
static inline std::string stage_name(const void *function)
{
    const std::string prefix = "histogram_";
    const char *mangled;
    check(cudaFuncGetName(&mangled, function), "cudaFuncGetName");
    std::string name = mangled;
    size_t first = name.find(prefix);
    size_t last = name.find("_kernel", first);
    if (first == std::string::npos || last == std::string::npos)
        return name;
    return name.substr(first + prefix.size(), last - first - prefix.size());
}

/* Returns a graph of only that node; sets its name. */
static inline cudaGraphExec_t stage_of(cudaGraphNode_t node, std::string &name)
{
    cudaGraphNodeType type;
    cudaGraphNode_t copy;
    cudaGraphExec_t executable;
    cudaGraph_t graph;

    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    if (type == cudaGraphNodeTypeKernel) {
        cudaKernelNodeParams kernel;
        check(cudaGraphKernelNodeGetParams(node, &kernel), "a kernel's node");
        check(cudaGraphAddKernelNode(&copy, graph, nullptr, 0, &kernel), "a kernel's node");
        check(cudaGraphKernelNodeCopyAttributes(copy, node), "a kernel's attributes");
        name = stage_name(kernel.func);
    } else {
        cudaMemsetParams memset;
        require(type == cudaGraphNodeTypeMemset, "a stage is neither a kernel nor a memset");
        check(cudaGraphMemsetNodeGetParams(node, &memset), "a memset's node");
        check(cudaGraphAddMemsetNode(&copy, graph, nullptr, 0, &memset), "a memset's node");
        name = "memset";
    }
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
}

/* Returns a graph for each node of the work, which queues on the stream; sets their names. */
static inline std::vector<cudaGraphExec_t> stages_of(const std::function<void(cudaStream_t)> &work,
                                                     cudaStream_t stream,
                                                     std::vector<std::string> &names)
{
    cudaGraph_t graph;
    size_t count = 0;
    std::vector<cudaGraphExec_t> stages;

    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    work(stream);
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
    names.resize(count);
    for (size_t i = 0; i < count; i++)
        stages.push_back(stage_of(nodes[i], names[i]));
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return stages;
}

/* Returns the median time of each stage in milliseconds; sets their names. */
static inline std::vector<double> stage_times(const std::function<void(cudaStream_t)> &work,
                                              std::vector<std::string> &names)
{
    constexpr int runs = 5;
    cudaStream_t stream;

    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    const std::vector<cudaGraphExec_t> stages = stages_of(work, stream, names);
    const size_t count = stages.size();
    std::vector<std::vector<float>> times(count, std::vector<float>(runs));
    std::vector<cudaEvent_t> events(count + 1);
    for (cudaEvent_t &event : events)
        check(cudaEventCreate(&event), "cudaEventCreate");
    for (int run = 0; run < runs; run++) {
        check(cudaEventRecord(events[0], stream), "cudaEventRecord");
        for (size_t i = 0; i < count; i++) {
            check(cudaGraphLaunch(stages[i], stream), "cudaGraphLaunch");
            check(cudaEventRecord(events[i + 1], stream), "cudaEventRecord");
        }
        check(cudaStreamSynchronize(stream), "a stage");
        for (size_t i = 0; i < count; i++)
            check(cudaEventElapsedTime(&times[i][run], events[i], events[i + 1]), "a stage's time");
    }
    std::vector<double> medians;
    for (std::vector<float> &stage : times) {
        std::sort(stage.begin(), stage.end());
        medians.push_back(stage[runs / 2]);
    }
    for (cudaGraphExec_t stage : stages)
        cudaGraphExecDestroy(stage);
    for (cudaEvent_t event : events)
        cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    return medians;
}

#endif
