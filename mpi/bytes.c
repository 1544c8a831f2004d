/* bytes.c - how many bytes calls move. */
#include "mpi/words.h"

int64_t mpi__bytes(mpi_self *self, int64_t count, MPI_Datatype type)
{
    uint64_t bits = MPI__BITS(type);
    mpi_type *known = &self->types[(bits >> 8 ^ bits >> 4 ^ bits) % MPI__TYPES];
    uint32_t now =
        atomic_load_explicit(&mpi__type_generation, memory_order_relaxed);
    MPI_Count bytes = 0;

    if (known->type == type && known->generation == now)
        return count * known->bytes;
    if (type == MPI_DATATYPE_NULL ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    *known = (mpi_type){type, now, bytes};
    return count * bytes;
}

void mpi__type_freed(void)
{
    atomic_fetch_add(&mpi__type_generation, 1);
}

/* Of the group that is communicated with. */
int mpi__comm_size(MPI_Comm comm)
{
    int size = 0, inter = 0;

    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return 0;
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

int mpi__degree(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, rank, in, weighted, count = 0;

    if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS)
        return 0;
    if (kind == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS)
        return 2 * count;
    if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
        PMPI_Graph_neighbors_count(comm, rank, &count);
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
    return count;
}

/* By counts of either kind. */
#define BYTES_OF(suffix, number)                                               \
    int64_t mpi__bytes_of_all##suffix(mpi_self *self, const number *counts,    \
                                      MPI_Datatype type, int size)             \
    {                                                                          \
        int64_t count = 0;                                                     \
                                                                               \
        for (int i = 0; i < size; i++)                                         \
            count += counts[i];                                                \
        return mpi__bytes(self, count, type);                                  \
    }                                                                          \
    int64_t mpi__bytes_of_each##suffix(mpi_self *self, const number *counts,   \
                                       const MPI_Datatype *types, int size)    \
    {                                                                          \
        int64_t bytes = 0;                                                     \
                                                                               \
        for (int i = 0; i < size; i++)                                         \
            bytes += counts[i] ? mpi__bytes(self, counts[i], types[i]) : 0;    \
        return bytes;                                                          \
    }

BYTES_OF(, int)
#ifdef MPICH_VERSION
BYTES_OF(_c, MPI_Count)
#endif
