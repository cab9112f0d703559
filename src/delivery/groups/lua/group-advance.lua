--[[ group-advance: what the runs of deliveries ask of their ordering groups, for several runs of one workspace at once.
    standing n    the first n entries, if the delivery is the head; without an order, whether it is pending
    done n        it and the n - 1 entries behind it need not be handled: they leave
    handled 1     as done, and the subscription's handler has succeeded: it fails no more
    drop 1        it is dead or dropped, and leaves: the snapshot that sent it is not complete without it
    hold 0        it is dead and stays the head; it no longer counts as pending
    retry 0       an attempt has failed, and another follows: nothing but its receipt
    merge n       the n - 1 entries behind it are merged into it: they leave, and the head gets the entry and payload given. If the head is
                  that entry already, the command was sent again after its reply was lost
  All are refused unless the run holds BullMQ's lock of its job; token "" is for "standing" without a run, and for a dead letter, whose job has no lock.
  Atomic because: a run that lost its job must not let the next delivery start while the run that took over handles this one.
  Its receipts are kept by the call that lets it leave, be held or be merged, and by each `retry`.
  A repetition changes nothing and returns the head again, because the process may have been killed before it added the head's job.
  KEYS 1 payloads · 2 health · 3 pending · 4 receipts · 5 open receipts · 6 undelivered of snapshots · n × (ordering group, or pending again if there is no order · lock of the job)
  ARGV 1 how many receipts are kept · n × (verb ␟ delivery id ␟ token ␟ count ␟ lines of its receipts)
       for each "merge": its entry · its payload
  RETURN n × {"head"} | {"head", for how long it is locked in ms · entries …} for "standing" | {"left", head of the group now if any} | {"held"} | {"taken-over"}    Cost O(entries). Never calls TIME. ]]
--- @include "entry"
--- @include "receipts"
local pending, kept, hasSucceeded = KEYS[3], {}, false

-- 0: it had left before.
local function leave(id, verb)
  local left = redis.call('ZREM', pending, id)
  local sent = snapshotPartOf(id)
  if sent and (verb == 'handled' or verb == 'done') then redis.call('HDEL', KEYS[6], sent) end
  redis.call('HDEL', KEYS[1], id)
  return left
end

local function standing(lock, entries)
  return { 'head', tostring(redis.call('PTTL', lock)), unpack(entries) }
end

local function answerTo(group, lock, verb, id, token, count, entry, payload, receipts)
  local isAsked = verb == 'standing' and token == ''
  if not isAsked and (redis.call('GET', lock) or '') ~= token then return { 'taken-over' } end
  hasSucceeded = hasSucceeded or verb == 'handled'
  if verb == 'retry' then
    kept[#kept + 1] = receipts
    return { 'head' }
  end
  if group == pending then
    if verb ~= 'standing' then
      if leave(id, verb) == 1 then kept[#kept + 1] = receipts end
      return { 'left' }
    end
    if not redis.call('ZSCORE', pending, id) then return { 'left' } end
    return standing(lock, {})
  end
  local head = redis.call('LINDEX', group, 0)
  if idOf(head) ~= id then return { 'left', head or nil } end
  if verb == 'standing' then return standing(lock, count == 1 and { head } or redis.call('LRANGE', group, 0, count - 1)) end
  if verb == 'merge' and head == entry then return { 'head' } end
  if verb == 'hold' then
    if redis.call('ZREM', pending, id) == 1 then kept[#kept + 1] = receipts end
    return { 'held' }
  end
  kept[#kept + 1] = receipts
  for _, gone in ipairs(redis.call('LPOP', group, count)) do
    if verb ~= 'merge' or idOf(gone) ~= id then leave(idOf(gone), verb) end
  end
  if verb == 'merge' then
    redis.call('LPUSH', group, entry)
    redis.call('HSET', KEYS[1], id, payload)
    return { 'head' }
  end
  return { 'left', redis.call('LINDEX', group, 0) or nil }
end

local answers, count = {}, (#KEYS - 6) / 2
local merge = count + 2
for n = 1, count do
  local verb, id, token, entries, receipts = string.match(ARGV[n + 1], '^(%l+)\31([^\31]*)\31([^\31]*)\31(%d+)\31(.*)$')
  local entry, payload
  if verb == 'merge' then
    entry, payload, merge = ARGV[merge], ARGV[merge + 1], merge + 2
  end
  answers[n] = answerTo(KEYS[2 * n + 5], KEYS[2 * n + 6], verb, id, token, tonumber(entries), entry, payload, receipts)
end
if hasSucceeded then redis.call('HDEL', KEYS[2], 'failingSince', 'lastFailure', 'failures', 'digestsOver') end
local receipts = table.concat(kept)
if receipts ~= '' then keepReceipts(KEYS[4], KEYS[5], receipts, tonumber(ARGV[1])) end
return answers
