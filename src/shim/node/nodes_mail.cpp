#include "shim/node/nodes_mail.h"

#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "abi.h"
#include "base/hash.h"
#include "shim/bind/attention.h"
#include "shim/bind/forward.h"

namespace millrace::shim {
namespace {

using node::Identity;
using node::NodesLetter;

constexpr Word letter_tag = 1;

struct HashOfIdentity {
  std::size_t operator()(const Identity& identity) const { return spread(identity.low ^ identity.high); }
};

struct Sent {
  NodesLetter letter;
  Word request = 0;
};

struct Mail {
  Word comm = 0;
  std::list<Sent> under_way;
  std::vector<int> sent;  // to each rank
  int came = 0;
  std::unordered_map<Identity, std::vector<NodesLetter>, HashOfIdentity> unread;
};

// Threads may work on several communicators at a time.
std::mutex mutex;
Mail* mail = nullptr;

// The next letter that has come, if any. Not by a receive that is open all the time: of MPICH 5 over UCX, where ranks
// are on several nodes, one from any source gets two letters and then no more.
bool receive(NodesLetter& letter) {
  int is_there = 0;
  Word message = 0;
  if (host<Symbol::MPI_Improbe>(abi::any_source, letter_tag, mail->comm, as_word(&is_there), as_word(&message),
                                abi::status_ignore) != 0 ||
      is_there == 0)
    return false;
  return host<Symbol::MPI_Mrecv>(as_word(&letter), sizeof letter, abi::byte_type(), as_word(&message),
                                 abi::status_ignore) == 0;
}

bool has_ended(Word& request) {
  int done = 0;
  const int error = host<Symbol::MPI_Test>(as_word(&request), as_word(&done), abi::status_ignore);
  return error == 0 && done != 0;
}

void look() {
  for (auto sent = mail->under_way.begin(); sent != mail->under_way.end();)
    sent = has_ended(sent->request) ? mail->under_way.erase(sent) : std::next(sent);
  for (NodesLetter letter; receive(letter); ++mail->came) mail->unread[letter.communicator].push_back(letter);
}

}  // namespace

void open_nodes_mail(Word comm, int world_ranks) {
  auto* const made = new Mail;
  made->comm = comm;
  made->sent.resize(static_cast<std::size_t>(world_ranks));
  mail = made;
}

void close_nodes_mail() {
  if (!mail) return;
  std::vector<int> ones(mail->sent.size(), 1);
  int coming = 0;
  const bool told = host<Symbol::MPI_Reduce_scatter>(as_word(mail->sent.data()), as_word(&coming), as_word(ones.data()),
                                                     abi::int_type(), abi::sum_op(), mail->comm) == 0;
  while (told && (mail->came < coming || !mail->under_way.empty())) look();
  // Hosts may have taken a letter that their network does not have yet (MPICH 5 over UCX and TCP), and send it only
  // while its rank is in some call that waits.
  if (told) host<Symbol::MPI_Barrier>(mail->comm);
  delete mail;
  mail = nullptr;
}

void send_letter(int world_rank, const NodesLetter& letter) {
  const std::lock_guard hold(mutex);
  if (!mail) return;
  mail->under_way.push_back({letter, 0});
  Sent& sent = mail->under_way.back();
  announce_traffic();
  if (host<Symbol::MPI_Isend>(as_word(&sent.letter), sizeof sent.letter, abi::byte_type(), world_rank, letter_tag,
                              mail->comm, as_word(&sent.request)) != 0) {
    mail->under_way.pop_back();
    return;
  }
  ++mail->sent[static_cast<std::size_t>(world_rank)];
}

std::vector<NodesLetter> collect_letters(const Identity& communicator) {
  const std::lock_guard hold(mutex);
  if (!mail) return {};
  look();
  const auto found = mail->unread.find(communicator);
  if (found == mail->unread.end()) return {};
  std::vector<NodesLetter> letters = std::move(found->second);
  mail->unread.erase(found);
  return letters;
}

void forget_letters(const Identity& communicator) {
  const std::lock_guard hold(mutex);
  if (mail) mail->unread.erase(communicator);
}

}  // namespace millrace::shim
