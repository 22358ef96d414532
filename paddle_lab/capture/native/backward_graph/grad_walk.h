/* Shared by the parts of the walk over a backward graph: capture/backward_graph/grad_walk.py. */
#ifndef PADDLE_LAB_GRAD_WALK_H
#define PADDLE_LAB_GRAD_WALK_H

#include "../growing.h"
#include "../native.h"

/* A grad node with a reference to it; its name is NULL until it is read. */
typedef struct {
    PyObject *node;
    PyObject *name;
    int64_t address;
    int64_t op;
    int64_t key;      /* set when the node is recorded */
    Py_ssize_t links; /* the end of its links; they begin at the end of the previous node's links */
    int is_fresh;
    int ends; /* a leaf that is recorded already; the walk does not continue from it */
} Node;

typedef struct {
    int64_t slot;
    int64_t target;
    int64_t tensor;
} Link;

/* Attributes of the GradNodePool, and the nodes and links that the walk has found. */
typedef struct {
    Lineage *lineage;
    AddressTable *keys;
    Tape *rows, *edges, *roots;
    Counter *next_key, *next_edge;
    PyObject *held, *leaf_keys, *leaf_addresses, *key_of_name;
    Growing pending, reached; /* of Node */
    Growing links;            /* of Link */
    AddressTable positions;   /* from an address to a position in ``reached`` */
    Sources sources;
    AddressTable source_positions;
} Walk;

/* Each of these functions returns -1 or NULL, and an exception, if it fails. */

/* grad_node.c: one grad node. */
int grad_node_begin(void);
PyObject *Node_name(Node *node); /* borrowed */
int Node_is_leaf(Node *node);
PyObject *Node_with_op(const Node *node);
int note_at(PyObject *dict, int64_t address, PyObject *value); /* takes the reference to value */
int64_t name_key(Walk *walk, PyObject *name);

/* grad_following.c: the walk from node to node. */
int Walk_begin(Walk *walk, PyObject *roots);
int Walk_take_node(Walk *walk); /* adds the next nodes of the last pending node */

/* grad_rows.c: records the nodes that were reached. */
int Walk_record(Walk *walk, PyObject *roots, int64_t backward_call);

#endif
