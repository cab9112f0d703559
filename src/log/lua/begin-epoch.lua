--[[ begin-epoch: binds a workspace's state to this server, in its next epoch, unless the state has changed since it was read.
  Atomic because: of several processes that find another server, one begins the epoch. Whatever is logged in it comes after the event that reports
  a loss, and has an id above every offset that a reader has stored: the log may have lost its end while offsets on other servers have not.
  Leases end: their holders may be gone for long, and those that are not must learn of the epoch.
  KEYS 1 state · 2 notices · 3 log · 4 … leases of the lists
  ARGV 1 state as it was read ("" for none) · 2 state of the epoch · 3 id below which nothing is logged ("" where the log is long enough)
       4 event that reports the loss of the state ("" for none) · 5 its type · 6 its subject
       to report that Redis went back: 7 problem · 8 subject · 9 now, ms · 10 event up to its sequence · 11 event after its sequence
       12 type of the event · 13 facts for its end
  RETURN {"begun" | "moved"}    Cost O(lists). Never calls TIME. ]]
--- @include "append-event"
--- @include "server"
--- @include "count-notice"
--- @include "publish-notice"
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return { 'moved' } end
redis.call('SET', KEYS[1], ARGV[2])
for at = 4, #KEYS do redis.call('DEL', KEYS[at]) end
-- The last id of a stream stays when its entry is deleted. An error says that the log has got there by itself.
local lifted = ARGV[3] ~= '' and redis.pcall('XADD', KEYS[3], ARGV[3], 'event', '')
if type(lifted) == 'string' then redis.call('XDEL', KEYS[3], lifted) end
if ARGV[4] ~= '' then appendEvent(KEYS[3], ARGV[4], ARGV[5], ARGV[6]) end
-- Also while an earlier one is open.
if ARGV[7] then publishNotice(KEYS[2], KEYS[3], 7, firstSequence(KEYS[1])) end
return { 'begun' }
