--[[ lane-leave: these events are handled or dead; their lanes move on.
  Atomic because: a run that lost its job to another must not let the next event start while that other still runs.
  Repeated, it changes nothing and names the head again, so that a promotion lost in a crash is made up for.
  KEYS 1 lanes · 2 pending · 3 holders · 4 revived
  ARGV 1 n · n × (workspace, lane or "", place, event id, holder, "0" from the log | "1" revived | "2" beside the log)
  RETURN n × ("left" | "taken-over", id of the event now at the head or "")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local n = tonumber(ARGV[1])
local answer = {}

for i = 0, n - 1 do
  local at = 6 * i + 2
  local workspace, lane, place, id, holder = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local revived = ARGV[at + 5] ~= '0'
  if revived then place = redis.call('HGET', KEYS[4], id) or (ARGV[at + 5] == '1' and place or 'none') end
  local member = lane .. SEP .. place .. SEP .. id
  local word = 'left'

  if lane == '' then
    redis.call('ZREM', KEYS[2], workspace .. SEP .. place)
    if revived then redis.call('HDEL', KEYS[4], id) end
  elseif redis.call('ZSCORE', KEYS[1], member) then
    if redis.call('HGET', KEYS[3], lane) == holder then
      redis.call('ZREM', KEYS[1], member)
      redis.call('ZREM', KEYS[2], workspace .. SEP .. place)
      redis.call('HDEL', KEYS[3], lane)
      if revived then redis.call('HDEL', KEYS[4], id) end
    else
      word = 'taken-over'
    end
  end

  answer[2 * i + 1] = word
  local head = word == 'left' and lane ~= ''
    and redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
  answer[2 * i + 2] = head and string.sub(head, #lane + PLACE_WIDTH + 3) or ''
end
return answer
