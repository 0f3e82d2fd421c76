// SPDX-License-Identifier: Apache-2.0
// Quiescent-state RCU over rte_rcu_qsbr: workers read tables without locks; the control thread
// frees what it replaced after every worker passed a quiescent state.
//
// A worker calls rcu_quiescent once per loop, rcu_offline before it sleeps and rcu_online after.
// Tests without workers need no set-up: with none registered a grace period ends at once.
#pragma once

// Allocates for up to workers readers. 0 or -errno. Control thread, at start (needs EAL).
int rcu_init(unsigned workers);
void rcu_fini(void);
void rcu_register(unsigned worker);   // worker thread; starts online
void rcu_unregister(unsigned worker); // worker thread
void rcu_quiescent(unsigned worker);
void rcu_offline(unsigned worker);
void rcu_online(unsigned worker);
// Waits until all that workers may hold from before is released. Control thread.
void rcu_synchronize(void);
// Frees p with fn after a grace period, later and without waiting; rcu_reap runs what is due.
// Control thread. When memory is short it waits instead.
void rcu_defer(void (*fn)(void *), void *p);
void rcu_reap(void);
